// Package copies defines which replicas count as copies of a volume's data, for the two binaries that must not destroy the last one:
// orphan-controller before it approves a deletion, im-monitor right before the call.
package copies

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Whole reports whether a replica is reported to be a whole copy that stays: it was rebuilt once and never failed since, it is not being
// deleted, its node (nil where that does not exist) is ready. It does not prove that the data exists: the objects may be of an earlier day.
func Whole(r *v1beta2.Replica, node *v1beta2.Node) bool {
	return v1beta2.IsReplicaHealthy(r) && node != nil && node.DeletionTimestamp == nil &&
		conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady)
}

// InUse reports whether a running engine reports that it reads and writes the replica of that name.
func InUse(replica string, engines []v1beta2.Engine) bool {
	return slices.ContainsFunc(engines, func(e v1beta2.Engine) bool {
		return e.Status.CurrentState == v1beta2.InstanceStateRunning && e.Status.ReplicaModeMap[replica] == v1beta2.ReplicaModeRW
	})
}
