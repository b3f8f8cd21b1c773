package v1beta2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OwnedBy is the owner reference of what belongs to a Volume.
func OwnedBy(v *Volume) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: GroupVersion.String(), Kind: "Volume", Name: v.Name, UID: v.UID}
}

// VolumeUIDOf is the UID of the Volume that owns an object; empty where no owner is one.
func VolumeUIDOf(object metav1.Object) types.UID {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Volume" {
			return owner.UID
		}
	}
	return ""
}

// VolumeNameOf is the volume that the spec of an Engine, EngineFrontend, Replica or Snapshot names; empty of any other object. Whether the
// object belongs to the present volume of that name, BelongsTo reports.
func VolumeNameOf(object metav1.Object) string {
	switch o := object.(type) {
	case *Engine:
		return o.Spec.VolumeName
	case *EngineFrontend:
		return o.Spec.VolumeName
	case *Replica:
		return o.Spec.VolumeName
	case *Snapshot:
		return o.Spec.Volume
	}
	return ""
}

// NodeNameOf is the node that the spec of an Engine, EngineFrontend, Replica or InstanceManager names; empty of any other object.
func NodeNameOf(object metav1.Object) string {
	switch o := object.(type) {
	case *Engine:
		return o.Spec.NodeID
	case *EngineFrontend:
		return o.Spec.NodeID
	case *Replica:
		return o.Spec.NodeID
	case *InstanceManager:
		return o.Spec.NodeID
	}
	return ""
}

// OwnerNodeOf is status.ownerID of an Engine, EngineFrontend, Replica or InstanceManager; empty of any other object.
func OwnerNodeOf(object metav1.Object) string {
	switch o := object.(type) {
	case *Engine:
		return o.Status.OwnerID
	case *EngineFrontend:
		return o.Status.OwnerID
	case *Replica:
		return o.Status.OwnerID
	case *InstanceManager:
		return o.Status.OwnerID
	}
	return ""
}

// InstanceStateOf is status.currentState of an Engine, EngineFrontend or Replica; empty of any other object.
func InstanceStateOf(object metav1.Object) string {
	switch o := object.(type) {
	case *Engine:
		return o.Status.CurrentState
	case *EngineFrontend:
		return o.Status.CurrentState
	case *Replica:
		return o.Status.CurrentState
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
