package backup

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// A cluster that has no object of a backup reads the target, shows the backup and restores it; after another reading nothing changed. The
// data goes when the BackupVolume is deleted.
func TestS14AClusterWithoutObjectsRestoresWhatATargetHas(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	name := world.Unique("backup")
	require.NoError(t, w.Backup(ctx, name, snap))
	before, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.DeleteVolume(ctx, vol))
	require.NoError(t, w.WaitVolumeGone(ctx, vol, patience))
	require.NoError(t, w.ForgetBackup(ctx, name))
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)

	require.NoError(t, w.ReadTarget(ctx, v1beta2.BackupTargetDefault, patience))
	found, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.Equal(t, before.Status.URL, found.Status.URL)
	require.Equal(t, vol, found.Status.VolumeName)
	require.Equal(t, snap, found.Status.SnapshotName)
	require.Equal(t, before.Status.VolumeSize, found.Status.VolumeSize)
	v, err := w.BackupVolume(ctx, vol, v1beta2.BackupTargetDefault)
	require.NoError(t, err)
	require.NotNil(t, v)
	require.Equal(t, name, v.Status.LastBackupName)

	restored := world.Unique("restored")
	require.NoError(t, w.Order(ctx, restored, v1beta2.DataEngineV1, 2, func(s *v1beta2.VolumeSpec) { s.FromBackup = found.Status.URL }))
	require.NoError(t, w.Ticket(ctx, restored, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, restored, "csi-1", true, "", patience))
	require.NoError(t, w.Keeps(ctx, restored, 1, "first"))

	bytes := stored(t, directory)
	require.NoError(t, w.DeleteBackupVolume(ctx, vol, v1beta2.BackupTargetDefault, patience))
	require.NoError(t, w.WaitBackupGone(ctx, name, patience))
	require.NoFileExists(t, files[0])
	t.Logf("bytes in the target before and after: %d, %d", bytes, stored(t, directory))
	require.Less(t, stored(t, directory), bytes)
}

// What a job does not keep is removed from the target, and no more.
func TestS14RetentionRemovesDataFromTheTarget(t *testing.T) {
	ctx, w := fixture(t)
	directory := target(t, ctx)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	var names []string
	for range 3 {
		name := world.Unique("backup")
		names = append(names, name)
		require.NoError(t, w.Backup(ctx, name, snap))
		_, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
		require.NoError(t, err)
	}
	files, err := world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 3)
	bytes := stored(t, directory)
	for _, name := range names[:2] {
		require.NoError(t, w.DeleteBackup(ctx, name))
		require.NoError(t, w.WaitBackupGone(ctx, name, patience))
	}
	files, err = world.Stored(directory, vol)
	require.NoError(t, err)
	require.Len(t, files, 1)
	t.Logf("bytes in the target with three backups and with one: %d, %d", bytes, stored(t, directory))
	require.Less(t, stored(t, directory), bytes)
}

// stored is how many bytes the files of a target have.
func stored(t *testing.T, directory string) int64 {
	t.Helper()
	deadline := time.Now().Add(patience) // an engine may still remove a lock
	for {
		total := int64(0)
		err := filepath.Walk(directory, func(_ string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				total += info.Size()
			}
			return err
		})
		if err == nil {
			return total
		}
		require.True(t, time.Now().Before(deadline), "%v", err)
	}
}
