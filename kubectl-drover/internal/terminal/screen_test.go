package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALineIsCutAtItsVisibleWidthAndEndsItsColour(t *testing.T) {
	require.Equal(t, "node-1: upgrading", cut("node-1: upgrading", 0))
	require.Equal(t, "node-1", cut("node-1: upgrading", 6))
	require.Equal(t, "\x1b[32mnode\x1b[0m", cut("\x1b[32mnode-1\x1b[0m: upgrading", 4))
	require.Equal(t, "zwölf", cut("zwölf Knoten", 5))
}
