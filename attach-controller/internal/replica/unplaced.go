package replica

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// unplaced reports whether a replica has neither a node nor a disk, and has no trace of data or of a run. It gets no place: another one is
// created where there is one.
func (w *World) unplaced(r *v1beta2.Replica) bool {
	if w.Engine != nil {
		_, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]
		_, listed := w.Engine.Status.ReplicaModeMap[r.Name]
		if mapped || listed {
			return false
		}
	}
	return r.Spec.NodeID == "" && r.Spec.DiskID == "" && r.Spec.HealthyAt == "" && r.Spec.LastHealthyAt == "" &&
		r.Spec.DesireState != v1beta2.InstanceStateRunning && r.Status.CurrentState != v1beta2.InstanceStateRunning
}

// dropUnplaced deletes a replica without a place, one at a time; it reports whether there was one to delete. Of a detached volume that may
// have been attached it stays: by such replicas the volume machine finds that longhorn-manager never attached the volume.
func (w *World) dropUnplaced(g groups, out *Verdict) bool {
	rw := func(r *v1beta2.Replica) bool { return w.mode(r) == v1beta2.ReplicaModeRW }
	if len(g.unplaced) == 0 || w.everHealthy() && !(w.attached() && slices.ContainsFunc(g.staying, rw)) {
		return false
	}
	out.Deletes = append(out.Deletes, Deletion{g.unplaced[0], "it has no node and no data, and another one takes its place"})
	return true
}
