package lookup_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/lookup"
)

func TestWhatAnObjectCanBeCalled(t *testing.T) {
	for _, name := range []string{"a", "vol-1-e-0", "a.b", "1", strings.Repeat("a", 253)} {
		require.True(t, lookup.Nameable(name), name)
	}
	for _, name := range []string{"", "-a", "a-", ".a", "A", "a_b", "a/b", strings.Repeat("a", 254)} {
		require.False(t, lookup.Nameable(name), name)
	}
}
