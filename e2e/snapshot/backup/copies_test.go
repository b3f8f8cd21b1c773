//go:build !fast

package backup

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// S14: a failed copy reports why, and is not retried: another Backup is another attempt.
func TestS14ACopyThatFails(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV2)
	first, second := world.Unique("backup"), world.Unique("backup")
	require.NoError(t, w.Inject(ctx, world.Fault{Kind: "fail-later", Method: copying, Times: 1}))
	require.NoError(t, w.Backup(ctx, first, snap))
	b, err := w.WaitBackupState(ctx, first, v1beta2.BackupError, patience)
	require.NoError(t, err)
	require.NotEmpty(t, b.Status.Error)
	require.NoError(t, w.Backup(ctx, second, snap))
	_, err = w.WaitBackupState(ctx, second, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.Equal(t, 2, calls(t, ctx, vol, copying))
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 2, "a copy that failed leaves what it began")
	require.NoError(t, w.DeleteBackup(ctx, first))
	require.NoError(t, w.WaitBackupGone(ctx, first, patience))
	files, err = world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// S14: a blocked backup reports its blocker, holds no ticket, and continues once the blocker is gone.
func TestS14WhatABackupWaitsFor(t *testing.T) {
	ctx, w := fixture(t)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	detach(t, ctx, vol)
	early, name := world.Unique("backup"), world.Unique("backup")
	late := world.Unique("late")
	require.NoError(t, w.Backup(ctx, early, late))
	require.NoError(t, w.WaitBackupReason(ctx, early, v1beta2.ReasonSnapshotNotReady, patience))
	require.NoError(t, w.Backup(ctx, name, snap))
	require.NoError(t, w.WaitBackupReason(ctx, name, v1beta2.ReasonTargetUnavailable, patience))
	tickets, err := w.Tickets(ctx, vol)
	require.NoError(t, err)
	require.Empty(t, tickets)

	require.NoError(t, w.BackupTarget(ctx, v1beta2.BackupTargetDefault, "/dev/null"))
	_, err = w.WaitBackupState(ctx, name, v1beta2.BackupError, patience)
	require.NoError(t, err, "the target is not writable")
	again := world.Unique("backup")
	require.NoError(t, w.MoveTarget(ctx, v1beta2.BackupTargetDefault, "nfs://nowhere/backups"))
	require.NoError(t, w.Backup(ctx, again, snap))
	_, err = w.WaitBackupState(ctx, again, v1beta2.BackupError, patience)
	require.NoError(t, err, "the engine refuses the backup")
	third := world.Unique("backup")
	require.NoError(t, w.Backup(ctx, third, snap))
	require.NoError(t, w.WaitBackupReason(ctx, third, v1beta2.ReasonTargetUnavailable, patience), "the next one does not start")
	require.NoError(t, w.MoveTarget(ctx, v1beta2.BackupTargetDefault, world.TargetURL(t.TempDir())))
	_, err = w.WaitBackupState(ctx, third, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)

	require.NoError(t, w.Snapshot(ctx, vol, late))
	_, err = w.WaitBackupState(ctx, early, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
}

// S14: im-monitor crashes after the engine has begun and before the status is written: its successor finds the copy, and there is one
// backup.
func TestS14ACrashBetweenCallAndStatus(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		directory := target(t, ctx)
		vol, snap := written(t, ctx, engine)
		name := world.Unique("backup")
		require.NoError(t, w.HoldCopies(ctx, vol))
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "hang", Method: copying, After: true}))
		require.NoError(t, w.Backup(ctx, name, snap))
		require.NoError(t, w.Wait(ctx, "the call", patience, func(ctx context.Context) (string, error) {
			if count, err := w.EngineCalls(ctx, vol, copying); err != nil || count == 0 {
				return "none was made", err
			}
			return "", nil
		}))
		monitor := w.Process(world.IMMonitor)
		monitor.Kill()
		require.NoError(t, w.Heal(ctx))
		b := &v1beta2.Backup{}
		require.NoError(t, w.Get(ctx, name, b))
		require.Equal(t, v1beta2.BackupPending, b.Status.State)
		require.NoError(t, monitor.Restart())
		_, err := w.WaitBackupState(ctx, name, v1beta2.BackupInProgress, patience)
		require.NoError(t, err)
		require.NoError(t, w.ReleaseCopies(ctx, vol, brisk))
		_, err = w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
		require.NoError(t, err)
		require.Equal(t, 1, calls(t, ctx, vol, copying))
		files, err := world.Stored(directory, vol)
		require.NoError(t, err)
		require.Len(t, files, 1)
	})
}

// S14: a pod elsewhere interrupts a backup; the interrupted copy is done again under the same name.
func TestS14AWorkloadInterruptsABackup(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	detach(t, ctx, vol)
	name := world.Unique("backup")
	require.NoError(t, w.HoldCopies(ctx, vol))
	require.NoError(t, w.Backup(ctx, name, snap))
	_, err := w.WaitBackupState(ctx, name, v1beta2.BackupInProgress, patience)
	require.NoError(t, err)
	v := &v1beta2.Volume{}
	require.NoError(t, w.Get(ctx, vol, v))
	elsewhere := near
	if v.Status.CurrentNodeID == near {
		elsewhere = far
	}
	require.NoError(t, w.Ticket(ctx, vol, "csi-1", v1beta2.AttacherCSI, elsewhere, nil))
	require.NoError(t, w.WaitAttached(ctx, vol, elsewhere, patience))
	require.NoError(t, w.ReleaseCopies(ctx, vol, brisk))
	_, err = w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// A Backup of a deleted volume is complete, and can be deleted without the volume.
func TestS14ABackupOutlivesItsVolume(t *testing.T) {
	ctx, w := fixture(t)
	target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	done := world.Unique("backup")
	require.NoError(t, w.Backup(ctx, done, snap))
	_, err := w.WaitBackupState(ctx, done, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.DeleteVolume(ctx, vol))
	require.NoError(t, w.WaitVolumeGone(ctx, vol, patience))
	_, err = w.WaitBackupState(ctx, done, v1beta2.BackupCompleted, patience)
	require.NoError(t, err, "backups outlive their volume")
	require.NoError(t, w.DeleteBackup(ctx, done))
	require.NoError(t, w.WaitBackupGone(ctx, done, patience))
}

// A Backup whose volume is deleted while it is copied reports it, and can be deleted without the volume.
func TestS14AVolumeThatGoesWhileItIsCopied(t *testing.T) {
	ctx, w := fixture(t)
	target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	waits := world.Unique("backup")
	require.NoError(t, w.HoldCopies(ctx, vol))
	require.NoError(t, w.Backup(ctx, waits, snap))
	_, err := w.WaitBackupState(ctx, waits, v1beta2.BackupInProgress, patience)
	require.NoError(t, err)
	require.NoError(t, w.DeleteVolume(ctx, vol))
	require.NoError(t, w.WaitVolumeGone(ctx, vol, patience))
	require.NoError(t, w.WaitBackupReason(ctx, waits, v1beta2.ReasonVolumeNotFound, patience))
	require.NoError(t, w.DeleteBackup(ctx, waits))
	require.NoError(t, w.WaitBackupGone(ctx, waits, patience))
}
