//go:build !fast

package rights

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// aSnapshotIsBackedUp lets a person have a backup taken, and delete it.
func aSnapshotIsBackedUp(ctx context.Context, t *testing.T, w *world.World, snapshot string) {
	t.Helper()
	const name = "copied"
	require.NoError(t, w.BackupTarget(ctx, v1beta2.BackupTargetDefault, t.TempDir()))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "credentials", Namespace: w.Namespace}}
	require.NoError(t, w.Admin.Create(ctx, secret))
	target := &v1beta2.BackupTarget{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.BackupTargetDefault, Namespace: w.Namespace}}
	named := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"credentialSecret":"credentials"}}`))
	require.NoError(t, w.Admin.Patch(ctx, target, named))
	require.NoError(t, w.Backup(ctx, name, snapshot))
	_, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	theTargetIsRead(ctx, t, w, name)
}

// theTargetIsRead lets a backup be found in the target whose object is gone, and be deleted there; then the target gets no URL.
func theTargetIsRead(ctx context.Context, t *testing.T, w *world.World, name string) {
	t.Helper()
	require.NoError(t, w.ForgetBackup(ctx, name))
	require.NoError(t, w.ReadTarget(ctx, v1beta2.BackupTargetDefault, patience))
	found, err := w.WaitBackupState(ctx, name, v1beta2.BackupCompleted, patience)
	require.NoError(t, err)
	require.NoError(t, w.DeleteBackup(ctx, name))
	require.NoError(t, w.WaitBackupGone(ctx, name, patience))
	require.NoError(t, w.MoveTarget(ctx, v1beta2.BackupTargetDefault, ""))
	require.NoError(t, w.WaitBackupVolumeGone(ctx, found.Status.VolumeName, v1beta2.BackupTargetDefault, patience))
}
