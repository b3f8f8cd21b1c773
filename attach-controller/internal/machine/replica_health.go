package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// replicaHealth marks replicas that are known to lack data: dropped by the running engine, or unable to start. [UPG-1]
type replicaHealth struct{ *draft }

func (h replicaHealth) decide() {
	if h.Volume.Spec.NodeID == "" || h.engineReportsOutdated() {
		return
	}
	running := h.engineRuns()
	if running {
		h.clearFailed()
	}
	if running || ofEngine(h.engine).state == v1beta2.InstanceStateError { // a failed engine reported before its replicas' states changed
		h.failDroppedBy(h.engine, "its engine dropped it")
	}
	if !running && h.state != v1beta2.VolumeStateDetaching {
		h.failUnstartable()
	}
}

// engineReportsOutdated reports whether the engine was started, and is neither observed nor failed: what it reported is outdated.
func (f Facts) engineReportsOutdated() bool {
	e := ofEngine(f.engine)
	return e.exists && e.uuid != "" && !f.engineRuns() && e.state != v1beta2.InstanceStateError
}

// failUnstartable marks the replicas whose instance failed before an engine used them. Without any other the volume is faulted.
func (h replicaHealth) failUnstartable() {
	for _, r := range h.Replicas {
		if r.Spec.DesireState != v1beta2.InstanceStateRunning || r.Status.CurrentState != v1beta2.InstanceStateError {
			continue
		}
		if !h.fail(r, "it could not start") && ofEngine(h.engine).state != v1beta2.InstanceStateError {
			h.fault("The last healthy replica " + r.Name + " could not start.")
		}
	}
}

// clearFailed clears the failure mark of a replica that alone serves: it was marked because its node was unreachable while the target
// moved, and the node returned before the frontend left. It has what the other replicas lack since then. Until it is cleared the marks show
// the opposite, and the volume would open over stale replicas. [UPG-1]
//
// The proof is a poll of the engine that is newer than the mark, and no other engine serves or is about to.
func (h replicaHealth) clearFailed() {
	alone := h.servedOnlyByFailed()
	if len(alone) == 0 || h.second != nil || h.state != v1beta2.VolumeStateAttached || !h.frontendSettled() || !h.requestPollAfter(alone) {
		return
	}
	for _, r := range alone {
		h.patch(StageMark, r, "failedAt", "")
		h.emitWith(r, Event{Reason: EventStillGood,
			Note: fmt.Sprintf("Replica %s on %s did not fail after all: its engine serves from it.", r.Name, r.Spec.NodeID)})
	}
}

// servedOnlyByFailed returns the marked replicas that the engine reads and writes while it has no other RW replica.
func (f Facts) servedOnlyByFailed() []*v1beta2.Replica {
	var out []*v1beta2.Replica
	for _, r := range f.Replicas {
		switch i := ofReplica(r); {
		case f.mode(r.Name) != v1beta2.ReplicaModeRW:
		case r.Spec.FailedAt == "":
			return nil
		case r.DeletionTimestamp == nil && r.Spec.HealthyAt != "" && i.wanted && f.running(i) && !f.nodeDown(i.node) && !f.removedByUpgrade(r):
			out = append(out, r)
		}
	}
	return out
}

// frontendSettled reports whether I/O goes to the volume's engine, and no frontend was ordered to switch. A v1 engine is its own frontend.
func (f Facts) frontendSettled() bool {
	if len(f.Frontends) == 0 {
		return !f.isV2()
	}
	return f.servingEngine() == f.engine && f.frontend.Spec.EngineName == f.engine.Name && !f.frontend.Status.SwitchoverInProgress()
}

// requestPollAfter requests an engine poll that is newer than every mark. Marks have no fractions of seconds.
func (d *draft) requestPollAfter(marked []*v1beta2.Replica) bool {
	polled, err := time.Parse(time.RFC3339Nano, d.engine.Status.LookedAt)
	if !d.requestPoll() || err != nil {
		return false
	}
	for _, r := range marked {
		failed, err := time.Parse(time.RFC3339, r.Spec.FailedAt)
		if err != nil || polled.Before(failed.Add(time.Second)) {
			d.patch(StageRun, d.engine, "lookRequestedAt", d.Now.UTC().Format(time.RFC3339Nano))
			return false
		}
	}
	return true
}
