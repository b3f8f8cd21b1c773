package backupcontroller

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/filledfrom"
)

// The indexes. Of Backups all but one hold only what is not ended: what ended changes no more.
const (
	// byEnded finds the Backups that ended by the label of the volume that they were begun with.
	byEnded = "backupcontroller.ended"
	// byVolume finds Backups by the label of their volume.
	byVolume = "backupcontroller.volume"
	// bySnapshot finds Backups by their snapshot.
	bySnapshot = "backupcontroller.snapshot"
	// byOpen is the one key of Backups that are not ended.
	byOpen = "backupcontroller.open"
	// byAttached finds Volumes by the node where they are to be attached.
	byAttached = "backupcontroller.attached"
)

var indexes = []kube.Index{
	kube.IndexBy(&v1beta2.Backup{}, byEnded, endedOf),
	kube.IndexBy(&v1beta2.Backup{}, byVolume, ifOpen(func(b *v1beta2.Backup) string { return b.Labels[v1beta2.LabelBackupVolume] })),
	kube.IndexBy(&v1beta2.Backup{}, bySnapshot, ifOpen(func(b *v1beta2.Backup) string { return b.Spec.SnapshotName })),
	kube.IndexIf(&v1beta2.Backup{}, byOpen, isOpen),
	kube.IndexBy(&v1beta2.Volume{}, byAttached, func(v *v1beta2.Volume) string { return v.Spec.NodeID }),
	filledfrom.Index,
	kube.ByNode(&v1beta2.Engine{}),
	kube.ByNode(&v1beta2.Replica{}),
}

func endedOf(b *v1beta2.Backup) string {
	if v1beta2.IsBackupEnded(b) && b.Status.VolumeName != "" {
		return v1beta2.LabelValue(b.Status.VolumeName)
	}
	return ""
}

func ifOpen(key func(*v1beta2.Backup) string) func(*v1beta2.Backup) string {
	return func(b *v1beta2.Backup) string {
		if !isOpen(b) {
			return ""
		}
		return key(b)
	}
}

func isOpen(b *v1beta2.Backup) bool {
	return b.Spec.SnapshotName != "" && !v1beta2.IsBackupEnded(b)
}
