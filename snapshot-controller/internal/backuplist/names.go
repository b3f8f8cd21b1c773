package backuplist

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"drover.dev/drover/shared/api/v1beta2"
)

// ObjectName is the name of the BackupVolume of a volume in a target.
func ObjectName(volume, target string) string {
	sum := sha256.Sum256([]byte(volume + "-" + target))
	return volume + "-" + hex.EncodeToString(sum[:4])
}

// VolumeOf is the name in the target of a BackupVolume's volume.
func VolumeOf(v *v1beta2.BackupVolume) string { return cmp.Or(v.Spec.VolumeName, v.Name) }

// TargetOf is the BackupTarget of a BackupVolume.
func TargetOf(v *v1beta2.BackupVolume) string {
	return cmp.Or(v.Spec.BackupTargetName, v1beta2.BackupTargetDefault)
}

// TargetOfBackup is the BackupTarget that a Backup was stored in, or that its label names; empty: none yet.
func TargetOfBackup(b *v1beta2.Backup) string {
	return cmp.Or(b.Status.BackupTargetName, b.Labels[v1beta2.LabelBackupTarget])
}

// IsObjectOnly reports whether the deletion of an object leaves the target alone.
func IsObjectOnly(labels map[string]string) bool {
	_, is := labels[v1beta2.LabelObjectOnly]
	return is
}
