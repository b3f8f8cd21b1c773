package replicadata

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// AwaitsRemoval reports whether the directory of a v1 Replica is to be removed on its node: the Replica is being deleted, its removal was
// approved, and no instance of the present generation runs.
func AwaitsRemoval(r *v1beta2.Replica) bool {
	gone := conditions.Get(r.Status.Conditions, v1beta2.ReplicaInstanceGone)
	return r.DeletionTimestamp != nil && r.Spec.DataEngine != v1beta2.DataEngineV2 && slices.Contains(r.Finalizers, v1beta2.Finalizer) &&
		r.Spec.DataDirectoryName != "" && Approval(r) != "" && !conditions.IsTrue(r.Status.Conditions, v1beta2.ReplicaDataRemoved) &&
		gone != nil && gone.Status == v1beta2.ConditionTrue && gone.ObservedGeneration == r.Generation
}

// Approval returns the reason of an approval that this version knows, or "".
func Approval(r *v1beta2.Replica) string {
	c := conditions.Get(r.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
	if c == nil || c.Status != v1beta2.ConditionTrue ||
		c.Reason != v1beta2.ReasonVolumeDeleting && c.Reason != v1beta2.ReasonHealthyCopyElsewhere {
		return ""
	}
	return c.Reason
}
