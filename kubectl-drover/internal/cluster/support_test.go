package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What happened last is what a report is for.
func TestALogKeepsItsNewestBytes(t *testing.T) {
	end := tail{limit: 5}
	for _, part := range strings.Split("0123\n45\n78\n", "") {
		n, err := end.Write([]byte(part))
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.Equal(t, "78\n", end.String())
	short := tail{limit: 2}
	_, _ = short.Write([]byte("ab"))
	require.Equal(t, "ab", short.String())
}
