package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// VolumeUIDOf is the UID of the Volume that owns an object; empty where no owner is one.
func VolumeUIDOf(object metav1.Object) types.UID {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Volume" {
			return owner.UID
		}
	}
	return ""
}

// VolumeNameOf is the volume that an Engine, EngineFrontend or Replica names; empty of any other object.
func VolumeNameOf(object metav1.Object) string {
	switch o := object.(type) {
	case *Engine:
		return o.Spec.VolumeName
	case *EngineFrontend:
		return o.Spec.VolumeName
	case *Replica:
		return o.Spec.VolumeName
	}
	return ""
}

// BelongsTo reports whether an object that names a volume belongs to that Volume, not to a previous one of the same name: an owner of kind
// Volume has its UID. An object without such an owner belongs.
func BelongsTo(object metav1.Object, v *Volume) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Volume" && owner.UID != v.UID {
			return false
		}
	}
	return true
}
