package machinecontroller

import (
	"cmp"
	"context"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
)

// remoteOf is the name in the backup target of the volume whose backups fill a volume; empty if it is not filled, or is complete.
func remoteOf(v *v1beta2.Volume) string {
	if v.Spec.FromBackup == "" || v.Status.RestoreInitiated && !v.Status.RestoreRequired {
		return ""
	}
	_, remote := machine.BackupOf(v.Spec.FromBackup)
	return remote
}

// nameInTarget is the name in the backup target of a BackupVolume's volume.
func nameInTarget(b *v1beta2.BackupVolume) string { return cmp.Or(b.Spec.VolumeName, b.Name) }

// backupVolume finds the BackupVolume in the volume's backup target for spec.fromBackup; of several the first by name.
func (o observer) backupVolume(ctx context.Context, w *machine.World) error {
	remote := remoteOf(w.Volume)
	if remote == "" {
		return nil
	}
	var list v1beta2.BackupVolumeList
	if err := o.list(ctx, &list, byBackupVolume, remote); err != nil {
		return err
	}
	target := cmp.Or(w.Volume.Spec.BackupTargetName, v1beta2.BackupTargetDefault)
	for i := range list.Items {
		b := &list.Items[i]
		if cmp.Or(b.Spec.BackupTargetName, v1beta2.BackupTargetDefault) != target || b.DeletionTimestamp != nil {
			continue
		}
		if w.BackupVolume == nil || b.Name < w.BackupVolume.Name {
			w.BackupVolume = b
		}
	}
	return nil
}
