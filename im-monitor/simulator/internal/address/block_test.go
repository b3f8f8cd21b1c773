package address

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTwoSimulatorsNeverShareABlock(t *testing.T) {
	directory := t.TempDir()
	one, err := Lock(directory)
	require.NoError(t, err)
	two, err := Lock(directory)
	require.NoError(t, err)
	require.NotEqual(t, one.String(), two.String())
	freed := one.String()
	require.NoError(t, one.Close())
	three, err := Lock(directory)
	require.NoError(t, err)
	require.Equal(t, freed, three.String(), "a block is free again when its process gives it back")
	require.NoError(t, two.Close())
	require.NoError(t, three.Close())
}

func TestAnAddressIsHandedOutAgainOnlyAfterAllOthers(t *testing.T) {
	b, err := Lock(t.TempDir())
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
	b.Give("127.64.3.7")
	b.Give("127.64.9.9")
	again, err := b.Take()
	require.NoError(t, err)
	require.Equal(t, "127.64.3.7", again)
	require.NoError(t, b.Close())
}
