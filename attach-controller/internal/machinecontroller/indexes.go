package machinecontroller

import (
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

const (
	// bySource finds volumes that are cloned from another one.
	bySource = "machinecontroller.source"
	// byBackupVolume finds volumes that are filled from a volume in a backup target, and the BackupVolumes that describe it.
	byBackupVolume = "machinecontroller.backupVolume"
)

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}), kube.ByVolume(&v1beta2.EngineFrontend{}), kube.ByVolume(&v1beta2.Replica{}),
	kube.ByVolume(&v1beta2.Snapshot{}),
	kube.ByNode(&v1beta2.Engine{}), kube.ByNode(&v1beta2.EngineFrontend{}), kube.ByNode(&v1beta2.Replica{}),
	kube.IndexByEach(&v1beta2.Volume{}, kube.FieldNode, func(v *v1beta2.Volume) []string { // to which it is to be, or is to lead
		return []string{v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.TargetNodeID}
	}),
	kube.IndexBy(&v1beta2.Volume{}, byBackupVolume, remoteOf),
	kube.IndexBy(&v1beta2.BackupVolume{}, byBackupVolume, nameInTarget),
	kube.IndexBy(&v1beta2.Volume{}, bySource, sourceOf),
}
