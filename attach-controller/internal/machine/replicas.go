package machine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// What several concerns do to replicas.

// fail marks a replica, never the last healthy one. [UPG-1]
func (d *draft) fail(r *v1beta2.Replica, why string) bool {
	if d.healthy(r) && !d.otherHealthy(r.Name) {
		return false
	}
	d.markFailed(r, why)
	return true
}

// failDropped marks a replica that its engine dropped, never the last healthy one, unless the engine went on with one that is being
// deleted: that one is the last copy then, and what was written since is in it alone. [UPG-1]
func (d *draft) failDropped(r *v1beta2.Replica, why string) {
	if !d.healthy(r) || d.otherHealthy(r.Name) || d.servesBesides(r.Name) {
		d.markFailed(r, why)
	}
}

func (d *draft) markFailed(r *v1beta2.Replica, why string) {
	if r.Spec.FailedAt != "" || d.failed[r.Name] {
		return
	}
	d.failed = d.failed.with(r.Name)
	d.patch(StageMark, r, "failedAt", stamp(d.Now))
	d.patch(StageMark, r, "lastFailedAt", stamp(d.Now))
	d.emitWith(r, Event{Reason: EventReplicaFailed, Warning: true, Note: fmt.Sprintf("Replica %s has failed: %s.", r.Name, why)})
}

// startReplica starts a replica, and records for which engine.
func (d *draft) startReplica(r *v1beta2.Replica) {
	d.patch(StageRun, r, "desireState", v1beta2.InstanceStateRunning)
	if r.Spec.UnmapMarkDiskChainRemovedEnabled != d.removesSnapshotsOnTrim() {
		d.patch(StageRun, r, "unmapMarkDiskChainRemovedEnabled", d.removesSnapshotsOnTrim())
	}
	d.assignReplica(r)
}

func (d *draft) assignReplica(r *v1beta2.Replica) {
	if r.Spec.EngineName != d.engine.Name {
		d.patch(StageRun, r, "engineName", d.engine.Name)
	}
}

// stopReplica stops the instance of a replica.
func (d *draft) stopReplica(r *v1beta2.Replica) {
	if r.Spec.DesireState != v1beta2.InstanceStateStopped {
		d.patch(StageRun, r, "desireState", v1beta2.InstanceStateStopped)
	}
}

// failByLastModes records the replica modes that the engines reported last: the next run must not mix replicas that differ. Dropped
// replicas come first: a replica whose instance failed since may be the only one with the newest data.
func (d *draft) failByLastModes() {
	d.markHealthyByLastModes()
	for _, e := range d.Engines {
		if !d.neverServed(e) {
			d.failDroppedBy(e, "its engine "+e.Name+" had dropped it")
		}
	}
	for _, r := range d.Replicas {
		if i := ofReplica(r); i.wanted && i.state == v1beta2.InstanceStateError {
			d.fail(r, "its instance failed")
		}
	}
}

// neverServed reports whether an engine is the second one of a v1 migration, and has no replica left: the volume was not handed over to it,
// and that it lost its own processes shows nothing about the data.
func (f Facts) neverServed(e *v1beta2.Engine) bool {
	return !f.isV2() && e != f.engine && !e.Spec.Active && !servesAny(e)
}

// leaveBehind records of a replica that is being deleted that it lacks all later writes, before its engine runs without it: it is not the
// last copy any more, even if the other copies are lost. It reports whether the replica was a copy.
func (d *draft) leaveBehind(r *v1beta2.Replica) bool {
	if r.DeletionTimestamp == nil || r.Spec.HealthyAt == "" {
		return false
	}
	d.patch(StageMark, r, "healthyAt", "")
	return true
}

// failDroppedBy marks the replicas that an engine dropped while it kept another one. If it dropped all, its modes do not show which of them
// has the newest data: none is marked, and the next engine finds it.
func (d *draft) failDroppedBy(e *v1beta2.Engine, why string) {
	if !servesAny(e) {
		d.salvageDroppedBy(e)
		return
	}
	for _, r := range d.Replicas {
		if d.modeOf(e, r) == v1beta2.ReplicaModeERR {
			d.failDropped(r, why)
		}
	}
}

// servesAny reports whether an engine reported last that it reads and writes a replica, named in its spec or not.
func servesAny(e *v1beta2.Engine) bool {
	for _, mode := range e.Status.ReplicaModeMap {
		if mode == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// salvageDroppedBy requests a salvage of several replicas that an engine dropped, each with all data as far as is known: an engine that
// starts over them as they are may mix data that differs; one that salvages takes the newest. It is no choice of a failed replica, so that
// the setting auto-salvage does not matter.
func (d *draft) salvageDroppedBy(e *v1beta2.Engine) {
	var dropped []*v1beta2.Replica
	for _, r := range d.Replicas {
		if d.modeOf(e, r) == v1beta2.ReplicaModeERR && d.healthy(r) && d.everHealthy() {
			dropped = append(dropped, r)
		}
	}
	if len(dropped) < 2 {
		return
	}
	for _, r := range dropped {
		if !r.Spec.SalvageRequested {
			d.patch(StageMark, r, "salvageRequested", true)
		}
	}
}

// markHealthyByLastModes marks the replicas whose rebuild ended just before their engine did: one of them may have the newest data. They
// are marked before any other replica is marked as failed.
func (d *draft) markHealthyByLastModes() {
	for _, r := range d.Replicas {
		if r.DeletionTimestamp != nil { // it may have been left behind since
			continue
		}
		for _, e := range d.Engines {
			if d.modeOf(e, r) == v1beta2.ReplicaModeRW && r.Spec.HealthyAt == "" && r.Spec.FailedAt == "" && d.everHealthy() {
				d.rebuilt = d.rebuilt.with(r.Name)
				d.patch(StageMake, r, "healthyAt", stamp(d.Now))
				d.patch(StageMake, r, "lastHealthyAt", stamp(d.Now))
			}
		}
	}
}
