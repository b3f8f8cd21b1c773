package address

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoSimulatorsNeverShareABlock(t *testing.T) {
	one, err := Lock()
	require.NoError(t, err)
	two, err := Lock()
	require.NoError(t, err)
	require.NotEqual(t, one.String(), two.String())
	where := one.lock.Addr().String()
	require.NoError(t, one.Close())
	again, err := net.Listen("tcp4", where)
	require.NoError(t, err, "a block is free again when its process gives it back")
	require.NoError(t, again.Close())
	require.NoError(t, two.Close())
}

func TestAnAddressIsHandedOutAgainOnlyAfterAllOthers(t *testing.T) {
	b, err := Lock()
	require.NoError(t, err)
	seen := map[string]bool{}
	for range perBlock {
		a, err := b.Take()
		require.NoError(t, err)
		require.False(t, seen[a], a)
		seen[a] = true
	}
	_, err = b.Take()
	require.Error(t, err)
	first, second := b.text(700), b.text(900)
	b.Give(first)
	b.Give(second)
	again, err := b.Take()
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, b.Close())
}
