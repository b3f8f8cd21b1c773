package rights

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// aSnapshotIsBackedUp lets a person have a backup taken, and delete it.
func aSnapshotIsBackedUp(ctx context.Context, t *testing.T, w *world.World, snapshot string) {
	t.Helper()
	const name = "copied"
	require.NoError(t, w.BackupTarget(ctx, v1beta2.BackupTargetDefault, t.TempDir()))
	require.NoError(t, w.Backup(ctx, name, snapshot))
	_, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.DeleteBackup(ctx, name))
	require.NoError(t, w.WaitBackupGone(ctx, name, patience))
}
