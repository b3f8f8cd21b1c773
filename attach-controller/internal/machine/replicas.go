package machine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// What several concerns do to replicas.

// fail marks a replica, never the last healthy one. [UPG-1]
func (d *draft) fail(r *v1beta2.Replica, why string) bool {
	if r.Spec.FailedAt != "" || d.failed[r.Name] {
		return true
	}
	if d.healthy(r) && !d.otherHealthy(r.Name) {
		return false
	}
	d.failed = d.failed.with(r.Name)
	d.patch(StageMark, r, "failedAt", stamp(d.Now))
	d.patch(StageMark, r, "lastFailedAt", stamp(d.Now))
	d.emitWith(r, Event{Reason: EventReplicaFailed, Warning: true, Note: fmt.Sprintf("Replica %s has failed: %s.", r.Name, why)})
	return true
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
	for _, r := range d.Replicas {
		for _, e := range d.Engines {
			if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeERR {
				d.fail(r, "its engine "+e.Name+" had dropped it")
			}
		}
	}
	for _, r := range d.Replicas {
		if i := ofReplica(r); i.wanted && i.state == v1beta2.InstanceStateError {
			d.fail(r, "its instance failed")
		}
	}
}

// markHealthyByLastModes marks the replicas whose rebuild ended just before their engine did: one of them may have the newest data. They
// are marked before any other replica is marked as failed.
func (d *draft) markHealthyByLastModes() {
	for _, r := range d.Replicas {
		for _, e := range d.Engines {
			_, mapped := e.Spec.ReplicaAddressMap[r.Name]
			if mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && r.Spec.HealthyAt == "" && r.Spec.FailedAt == "" &&
				d.everHealthy() {
				d.rebuilt = d.rebuilt.with(r.Name)
				d.patch(StageMake, r, "healthyAt", stamp(d.Now))
				d.patch(StageMake, r, "lastHealthyAt", stamp(d.Now))
			}
		}
	}
}
