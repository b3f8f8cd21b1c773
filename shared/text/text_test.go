package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestATextIsCutBetweenItsCharacters(t *testing.T) {
	require.Equal(t, "as it is", Truncate("as it is", 8))
	require.Equal(t, "as it...", Truncate("as it was", 8))
	for bytes := 4; bytes < 12; bytes++ {
		out := Truncate(strings.Repeat("ü", 10), bytes)
		require.LessOrEqual(t, len(out), bytes)
		require.True(t, utf8.ValidString(out), out)
	}
}
