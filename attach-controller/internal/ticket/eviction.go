package ticket

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// eviction attaches a detached volume, so that its replicas can leave what is evicted. While somebody else holds the
// volume they leave without it; once there it stays until they have left.
func eviction(w World, _ []wish) []wish {
	begun := w.has(v1beta2.AttacherEviction, w.Volume.Name)
	if !begun && !w.detached() || w.faulted() || !slices.ContainsFunc(w.Replicas, w.evicted) {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherEviction, v1beta2.TicketValueAny)}
}

// evicted tells that a replica with data lies on a node or disk that shall be emptied.
func (w World) evicted(r v1beta2.Replica) bool {
	node := w.Nodes[r.Spec.NodeID]
	if node == nil || !w.usable(r) {
		return false
	}
	if node.Spec.EvictionRequested {
		return true
	}
	for name, disk := range node.Status.DiskStatus {
		if disk.DiskUUID == r.Spec.DiskID && r.Spec.DiskID != "" {
			return node.Spec.Disks[name].EvictionRequested
		}
	}
	return false
}
