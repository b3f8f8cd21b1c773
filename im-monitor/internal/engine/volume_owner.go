package engine

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// VolumeUID is the UID of the owner reference to the volume; empty where there is none.
func VolumeUID(owners []metav1.OwnerReference, volume string) string {
	for _, o := range owners {
		if o.Kind == "Volume" && o.Name == volume {
			return string(o.UID)
		}
	}
	return ""
}

// IsOf reports whether an engine is of exactly this volume, not of another one of the name.
func IsOf(e *v1beta2.Engine, v *v1beta2.Volume) bool {
	return v != nil && string(v.UID) == VolumeUID(e.OwnerReferences, v.Name)
}

// Stays reports why no call that changes snapshots, or copies one, may go to an engine now: its volume, read uncached, goes or moves. The
// volume may be nil; the error is nil where a call may go.
func Stays(e *v1beta2.Engine, v *v1beta2.Volume) error {
	switch {
	case !IsOf(e, v) || v.DeletionTimestamp != nil:
		return fmt.Errorf("volume %s is gone, being deleted or another one", e.Spec.VolumeName)
	case v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != "":
		return fmt.Errorf("volume %s moves to another node", v.Name)
	}
	return nil
}
