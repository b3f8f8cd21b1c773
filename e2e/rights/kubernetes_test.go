package rights

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

// kubernetesTakesSnapshots lets Kubernetes ask snapshot-controller: its API server about Snapshots, and its users, by
// VolumeSnapshots, for a snapshot and a backup of the volume, which are deleted again.
func kubernetesTakesSnapshots(ctx context.Context, t *testing.T, w *world.World, volume string) {
	t.Helper()
	require.NoError(t, w.AskAboutSnapshots(ctx, w.Process(world.SnapshotController)))
	require.NoError(t, w.VolumeSnapshots(ctx))
	require.NoError(t, w.PersistentVolume(ctx, volume))
	require.NoError(t, w.Claim(ctx, volume))
	for _, kind := range []string{"snap", "bak"} {
		require.NoError(t, w.SnapshotClass(ctx, kind, kind, "Delete"))
		require.NoError(t, w.VolumeSnapshot(ctx, kind, kind, volume))
		now, err := w.WaitVolumeSnapshot(ctx, kind, "to have a handle", patience, func(s world.VolumeSnapshotStatus) bool { return s.Handle != "" })
		require.NoError(t, err)
		require.NoError(t, w.DeleteVolumeSnapshot(ctx, kind))
		require.NoError(t, w.WaitVolumeSnapshotGone(ctx, kind, now.Content, patience))
	}
	require.NoError(t, w.AskNobody(ctx))
}
