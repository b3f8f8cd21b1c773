package backupstore

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

func TestABackupIsReadBackByItsURL(t *testing.T) {
	directory := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		target := rapid.SampledFrom([]string{"file://" + directory, "s3://bucket@region/path/", "nfs://server:/export"}).Draw(t, "target")
		blocks := chain.Blocks(rapid.MapOf(rapid.Int64Range(0, 9), rapid.String()).Draw(t, "blocks"))
		b := Backup{Name: rapid.StringMatching(`[a-z/.]{1,8}`).Draw(t, "name"), Volume: "vol", Blocks: blocks,
			Checksum: chain.Text(blocks.Sum())}
		store, err := Open(target, directory)
		require.NoError(t, err)
		require.NoError(t, store.Put(b))
		require.True(t, store.HasAny("vol"))
		got, err := Load(URL(target, b.Name, "vol"), "", directory)
		require.NoError(t, err)
		require.Equal(t, blocks.Sum(), got.Blocks.Sum())
	})
}

func TestADamagedBackupIsRefused(t *testing.T) {
	store, err := Open("file://"+t.TempDir(), "")
	require.NoError(t, err)
	require.NoError(t, store.Put(Backup{Name: "b", Volume: "vol", Blocks: chain.Blocks{1: "text"}, Checksum: "0"}))
	_, err = store.Get("vol", "b")
	require.ErrorContains(t, err, "damaged")
	_, err = store.Get("vol", "other")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestATargetThatNobodyKeepsCannotBeReached(t *testing.T) {
	_, err := Open("s3://bucket@region/", "")
	require.ErrorContains(t, err, "cannot be reached")
}
