package ticket

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// eviction attaches a detached volume, so that its replicas can leave evicted nodes and disks. While another ticket holds the volume they
// leave without it; once there it stays until they have left: only a running engine can show that the data of a deleted replica is
// elsewhere. If the engine ends before that, the volume is attached once more. A volume whose replicas have no other place is not attached
// in vain.
func eviction(w World, _ []wish) []wish {
	begun := w.has(v1beta2.AttacherEviction, w.Volume.Name)
	if !begun && !w.detached() || w.faulted() || w.unplaced() && !slices.ContainsFunc(w.Replicas, w.underWay) ||
		!slices.ContainsFunc(w.Replicas, func(r v1beta2.Replica) bool {
			return w.evicted(r) && (v1beta2.IsReplicaReadable(&r, w.Replicas) || w.going(r))
		}) {
		return nil
	}
	x := w.ofVolume(v1beta2.AttacherEviction, v1beta2.TicketValueAny)
	if x.node == "" {
		x.node = w.cordonedPlace(w.tickets()[x.id()].NodeID)
	}
	return []wish{x}
}

// unplaced reports whether the volume wants a replica and no place is found for it. The condition of a detached volume follows when a place
// appears. A rebuild that waits does not count: it needs the volume attached.
func (w World) unplaced() bool {
	list := w.Volume.Status.Conditions
	return conditions.IsFalse(list, conditionScheduled) && !v1beta2.WaitsForRebuild(conditions.Reason(list, conditionScheduled))
}

// underWay reports whether a replica is being deleted or rebuilt, which needs a running engine.
func (w World) underWay(r v1beta2.Replica) bool {
	return w.going(r) || r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && r.Spec.HealthyAt == ""
}

// going reports whether a replica is being deleted and has not ended. One on a down node ends when the node is back, and delays nothing.
func (w World) going(r v1beta2.Replica) bool {
	return r.DeletionTimestamp != nil && !v1beta2.IsNodeDown(w.Nodes[r.Spec.NodeID])
}

// evicted reports whether a replica is on a node or disk that is to be emptied, or is one of those that leave a node that is drained.
func (w World) evicted(r v1beta2.Replica) bool {
	node := w.Nodes[r.Spec.NodeID]
	if node == nil {
		return false
	}
	if node.Spec.EvictionRequested || node.Status.AutoEvicting && r.Spec.EvictionRequested && !v1beta2.IsNodeDown(node) {
		return true
	}
	for name, disk := range node.Status.DiskStatus {
		if disk.DiskUUID == r.Spec.DiskID && r.Spec.DiskID != "" {
			return node.Spec.Disks[name].EvictionRequested
		}
	}
	return false
}
