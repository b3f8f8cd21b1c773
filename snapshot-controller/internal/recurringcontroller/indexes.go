package recurringcontroller

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// The indexes.
const (
	// byKey finds the volumes that name a job or a group.
	byKey = "recurringcontroller.key"
	// byMade finds the Snapshots and Backups that a job made of a volume, as job/volume.
	byMade = "recurringcontroller.made"
	// byOpen finds those that a job made and that are not taken, or have not ended, by job.
	byOpen = "recurringcontroller.open"
	// byHandle and byClaim find PersistentVolumes that are bound: those of a Longhorn volume, and those of a claim, by its UID.
	byHandle = "recurringcontroller.handle"
	byClaim  = "recurringcontroller.claim"
)

var indexes = []kube.Index{
	kube.IndexByEach(&v1beta2.Volume{}, byKey, func(v *v1beta2.Volume) []string { return recurring.KeysOfVolume(v.Labels) }),
	kube.IndexBy(&v1beta2.Snapshot{}, byMade, madeKey[*v1beta2.Snapshot]),
	kube.IndexBy(&v1beta2.Snapshot{}, byOpen, openJob[*v1beta2.Snapshot]),
	kube.IndexBy(&v1beta2.Backup{}, byMade, madeKey[*v1beta2.Backup]),
	kube.IndexBy(&v1beta2.Backup{}, byOpen, openJob[*v1beta2.Backup]),
	kube.IndexBy(&corev1.PersistentVolume{}, byHandle, func(pv *corev1.PersistentVolume) string { return bindingOf(pv).volume }),
	kube.IndexBy(&corev1.PersistentVolume{}, byClaim, func(pv *corev1.PersistentVolume) string { return string(bindingOf(pv).uid) }),
}

func madeKey[T client.Object](obj T) string {
	job, volume := madeFor(obj)
	return keyOf(job, volume)
}

func openJob[T client.Object](obj T) string {
	if job, _ := madeFor(obj); isOpen(obj) {
		return job
	}
	return ""
}

// madeFor are the job that made the Snapshot or Backup, and the volume, as labels name it; empty: no job did.
func madeFor(obj client.Object) (job, volume string) {
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		return recurring.JobOf(made), v1beta2.LabelValue(made.Spec.Volume)
	case *v1beta2.Backup:
		return recurring.JobOfBackup(made), made.Labels[v1beta2.LabelBackupVolume]
	}
	return "", ""
}

// volumeOf is the volume of a Snapshot or Backup; of a Backup that was not begun, the one of its label.
func volumeOf(obj client.Object) string {
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		return made.Spec.Volume
	case *v1beta2.Backup:
		return cmp.Or(made.Status.VolumeName, made.Labels[v1beta2.LabelBackupVolume])
	}
	return ""
}

// keyOf is the key of a job and a volume, as labels name it.
func keyOf(job, volume string) string {
	if job == "" {
		return ""
	}
	return job + "/" + volume
}

func isOpen(obj client.Object) bool {
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		return made.Status.CreationTime == ""
	case *v1beta2.Backup:
		return !v1beta2.IsBackupEnded(made)
	}
	return false
}
