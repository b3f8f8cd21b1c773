package enumflag_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/enumflag"
)

func TestAnotherWordIsRefusedAndNamesThem(t *testing.T) {
	into := "before"
	set := enumflag.Words(&into, "all", "first")
	require.ErrorContains(t, set("al"), "all, first")
	require.Equal(t, "before", into)
	require.NoError(t, set("first"))
	require.Equal(t, "first", into)
	require.NoError(t, set(""))
	require.Empty(t, into)
}
