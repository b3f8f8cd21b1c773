package enumflag_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/enumflag"
)

func TestAnotherWordIsRefusedAndNamesThem(t *testing.T) {
	into := "before"
	words := enumflag.Words(&into, "all", "first")
	require.ErrorContains(t, words.Set("al"), "all, first")
	require.Equal(t, "before", into)
	require.NoError(t, words.Set("first"))
	require.Equal(t, "first", into)
	require.Equal(t, "first", words.String())
	require.NoError(t, words.Set(""))
	require.Empty(t, into)
}
