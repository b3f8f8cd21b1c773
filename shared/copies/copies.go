// Package copies tells which replicas count as copies of a volume's data, for the two binaries that must not take the last one away:
// orphan-controller before it approves a deletion, im-monitor right before the call.
package copies

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Whole reports whether a replica is said to be a whole copy that stays: it was rebuilt once and never failed since, nobody deletes it, its
// node (nil where that does not exist) is ready. That it is there is another question: the objects may be those of an earlier day.
func Whole(r *v1beta2.Replica, node *v1beta2.Node) bool {
	if r.DeletionTimestamp != nil || r.Spec.FailedAt != "" || r.Spec.HealthyAt == "" {
		return false
	}
	return node != nil && node.DeletionTimestamp == nil && conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady)
}

// InUse reports whether a running engine says that it reads and writes the replica of that name.
func InUse(replica string, engines []v1beta2.Engine) bool {
	return slices.ContainsFunc(engines, func(e v1beta2.Engine) bool {
		return e.Status.CurrentState == v1beta2.InstanceStateRunning && e.Status.ReplicaModeMap[replica] == v1beta2.ReplicaModeRW
	})
}
