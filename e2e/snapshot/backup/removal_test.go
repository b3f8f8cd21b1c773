//go:build !fast

package backup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// removing is the call that the simulator's journal counts.
const removing = "SnapshotRemove"

// S14: a snapshot that is deleted while it is copied stays until the copy is complete, and then ends.
func TestS14ASnapshotThatIsDeletedWhileItIsCopied(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	newer, name := world.Unique("snap"), world.Unique("backup")
	require.NoError(t, w.Snapshot(ctx, vol, newer))
	ready(t, ctx, newer)
	require.NoError(t, w.HoldCopies(ctx, vol))
	require.NoError(t, w.Backup(ctx, name, snap))
	_, err := w.WaitBackupState(ctx, name, v1beta2.BackupInProgress, patience)
	require.NoError(t, err)

	require.NoError(t, w.DeleteSnapshot(ctx, snap))
	require.NoError(t, w.WaitSnapshot(ctx, snap, v1beta2.SnapshotRemovalApproved, v1beta2.ReasonBackingUp, patience))
	require.Zero(t, calls(t, ctx, vol, removing))
	require.NoError(t, w.ReleaseCopies(ctx, vol, brisk))
	_, err = w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.WaitSnapshotGone(ctx, snap, patience))
	require.Equal(t, 1, calls(t, ctx, vol, copying))
	require.Equal(t, 1, calls(t, ctx, vol, removing))
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)
	v := &v1beta2.Volume{}
	require.NoError(t, w.Get(ctx, vol, v))
	require.Equal(t, name, v.Status.LastBackup)
}

// S13: a job whose task is to delete removes all but the newest of a detached volume, in one call, and then the volume is detached.
func TestS13AJobDeletes(t *testing.T) {
	ctx, w := fixture(t)
	vol, _ := written(t, ctx, v1beta2.DataEngineV1)
	var last string
	for range 2 {
		last = world.Unique("snap")
		require.NoError(t, w.Snapshot(ctx, vol, last))
		ready(t, ctx, last)
	}
	detach(t, ctx, vol)
	runOnce(t, ctx, v1beta2.RecurringJobSpec{Task: v1beta2.RecurringTaskSnapshotDelete, Retain: 1})
	left, err := w.SnapshotsOf(ctx, vol)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Contains(t, left, last)
	require.Equal(t, 1, calls(t, ctx, vol, removing))
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
}
