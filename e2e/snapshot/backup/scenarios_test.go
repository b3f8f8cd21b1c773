package backup

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// copying is the call that the simulator's journal counts.
	copying = "SnapshotBackup"
	// brisk is how long a copy takes when the test does not check its progress.
	brisk = 100 * time.Millisecond
)

// target creates the default target and returns its directory.
func target(t *testing.T, ctx context.Context) string {
	t.Helper()
	directory := t.TempDir()
	require.NoError(t, here.BackupTarget(ctx, v1beta2.BackupTargetDefault, directory))
	return directory
}

// written creates a volume with "first" in its first block and a snapshot of that, and detaches the volume. Later
// writes are not in the snapshot.
func written(t *testing.T, ctx context.Context, engine string) (vol, snap string) {
	t.Helper()
	vol, snap = volume(t, ctx, engine), world.Unique("snap")
	require.NoError(t, here.Write(ctx, vol, 1, "first"))
	require.NoError(t, here.Snapshot(ctx, vol, snap))
	ready(t, ctx, snap)
	require.NoError(t, here.Write(ctx, vol, 1, "later"))
	return vol, snap
}

func detach(t *testing.T, ctx context.Context, vol string) {
	t.Helper()
	require.NoError(t, here.DropTicket(ctx, vol, "csi-1"))
	require.NoError(t, here.WaitDetached(ctx, vol, patience))
}

// S14: a backup of a detached volume, which is attached for it; the progress is reported; the volume is detached; the
// restored volume has the content of the snapshot; and a later deletion removes the data from the target.
func TestS14TakenRestoredAndDeleted(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		directory := target(t, ctx)
		vol, snap := written(t, ctx, engine)
		detach(t, ctx, vol)
		name := world.Unique("backup")
		require.NoError(t, w.ReleaseCopies(ctx, vol, 3*time.Second))
		require.NoError(t, w.Backup(ctx, name, snap))
		if !world.IsReal() { // a real engine copies these few blocks at once
			_, err := w.WaitBackup(ctx, name, "to be on its way", patience, func(b *v1beta2.Backup) bool {
				return b.Status.State == v1beta2.BackupInProgress && b.Status.Progress > 0 && b.Status.Progress < 100
			})
			require.NoError(t, err)
		}
		b, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
		require.NoError(t, err)
		require.Equal(t, vol, b.Status.VolumeName)
		require.Equal(t, v1beta2.BackupTargetDefault, b.Status.BackupTargetName)
		require.NoError(t, w.WaitDetached(ctx, vol, patience))
		tickets, err := w.Tickets(ctx, vol)
		require.NoError(t, err)
		require.Empty(t, tickets)
		require.Equal(t, 1, calls(t, ctx, vol, copying))
		files, err := world.Stored(directory, vol)
		require.NoError(t, err)
		require.Len(t, files, 1)

		require.NoError(t, w.DeleteVolume(ctx, vol))
		require.NoError(t, w.WaitVolumeGone(ctx, vol, patience))
		restored := world.Unique("restored")
		require.NoError(t, w.Order(ctx, restored, engine, 2, func(s *v1beta2.VolumeSpec) { s.FromBackup = b.Status.URL }))
		require.NoError(t, w.Ticket(ctx, restored, "csi-1", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.WaitTicket(ctx, restored, "csi-1", true, "", patience))
		require.NoError(t, w.Keeps(ctx, restored, 1, "first"))

		require.NoError(t, w.DeleteBackup(ctx, name))
		require.NoError(t, w.WaitBackupGone(ctx, name, patience))
		require.NoFileExists(t, files[0], "its data goes with it")
	})
}
