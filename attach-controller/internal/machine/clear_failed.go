package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// takeBack clears the failure mark of a replica that alone serves: it was marked because its node was unreachable while the target moved,
// and the node returned before the frontend left. It has what the other replicas lack since then. Until it is cleared the marks show the
// opposite, and the volume would open over stale replicas. [UPG-1]
//
// The proof is a poll of the engine that is newer than the mark, and no other engine serves or is about to.
func (p *pass) takeBack() {
	alone := p.servedOnlyByFailed()
	if len(alone) == 0 || p.second != nil || p.state != v1beta2.VolumeStateAttached || !p.frontendSettled() || !p.polledSince(alone) {
		return
	}
	for _, r := range alone {
		p.patch(StageFail, r, "failedAt", "")
		p.report(r, Event{Reason: EventStillGood,
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

// polledSince requests an engine poll that is newer than every mark. Marks have no fractions of seconds.
func (p *pass) polledSince(marked []*v1beta2.Replica) bool {
	polled, err := time.Parse(time.RFC3339Nano, p.engine.Status.LookedAt)
	if !p.freshPoll() || err != nil {
		return false
	}
	for _, r := range marked {
		failed, err := time.Parse(time.RFC3339, r.Spec.FailedAt)
		if err != nil || polled.Before(failed.Add(time.Second)) {
			p.patch(StageStop, p.engine, "lookRequestedAt", p.Now.UTC().Format(time.RFC3339Nano))
			return false
		}
	}
	return true
}
