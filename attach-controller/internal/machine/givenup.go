package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// goneFor is how long a target on a down node has to answer after its frontend was fenced from it.
const goneFor = 5 * time.Second

// The volume fails over from a relocated target when its node is down and the target is wanted elsewhere: the next engine continues
// without the replica on that node. Kubernetes may report the node late, so that the node is already back, and the next engine would lack
// what its target acknowledged meanwhile. [UPG-1] So the frontend is fenced from the target before anything is concluded:
//
//	a copy is left elsewhere      → request the frontend to suspend all I/O
//	it is suspended               → request a poll of the target; the frontend's suspend request gets the same time
//	it answers, or goneFor is up  → by the last reported modes mark its replicas there, create the next engine, move the frontend
//	the frontend leads where its spec says, to an engine that runs and was polled, with its replicas marked → resume I/O
//
// All of this is in the objects. A target that is back before the frontend has left is the volume's again.

// cutOff reports whether the volume's engine acknowledges no more I/O, and was polled since then.
func (p *pass) cutOff() bool {
	if p.Rules.off(RuleCutOffFirst) {
		return true
	}
	p.givenUp = true
	f, request, now := p.frontend, p.frontend.Spec.SuspendRequestedAt, p.Now.UTC().Format(time.RFC3339Nano)
	down := fmt.Sprintf("node %s is down, and the volume fails over from the target there;", p.engine.Spec.NodeID)
	before, why := "All I/O is being suspended: "+down, "All I/O is suspended: "+down
	switch asked, err := time.Parse(time.RFC3339Nano, request); {
	case err != nil, lost(f):
		p.patch(StageStop, f, "suspendRequestedAt", now)
		w := p.writeTo(StageStop, f)
		w.Events = append(w.Events, Event{Reason: EventIOHeld, Warning: true, Note: before + " another target takes over."})
		return p.held(v1beta2.ReasonNodeDown, before+" the suspension is being requested.")
	case !answered(f) || f.Status.CurrentState != v1beta2.InstanceStateSuspended:
		return p.held(v1beta2.ReasonNodeDown,
			fmt.Sprintf("%s the suspension was requested, and the frontend is %s.", before, f.Status.CurrentState))
	case p.engine.Spec.LookRequestedAt != request:
		p.patch(StageStop, p.engine, "lookRequestedAt", now)
		p.patch(StageStop, f, "suspendRequestedAt", now)
		return p.held(v1beta2.ReasonNodeDown, why+" the target is polled once more.")
	case !polledAfter(p.engine, asked) && p.Now.Before(asked.Add(goneFor)):
		p.requeueAt(asked.Add(goneFor))
		return p.held(v1beta2.ReasonNodeDown, why+" the target is polled once more.")
	}
	p.out.Fresh, p.out.FreshFrontends = true, true
	p.held(v1beta2.ReasonNodeDown, why+" another target takes over.")
	return true
}

// held sets why I/O is suspended; it precedes other reasons to wait.
func (p *pass) held(reason, message string) bool {
	p.why = waiting{reason, message}
	return false
}

// suspendRequest returns the suspend request for a frontend that is ordered to switch to another target: a new one, so that its answer reports
// where the frontend leads since then. A frontend that restarts suspends nothing.
func (f Facts) suspendRequest(i instance) string {
	if !i.wanted {
		return ""
	}
	return f.Now.UTC().Format(time.RFC3339Nano)
}

// answered reports whether the suspend request was answered.
func answered(f *v1beta2.EngineFrontend) bool {
	return f.Spec.SuspendRequestedAt != "" && f.Status.SuspendedAt == f.Spec.SuspendRequestedAt
}

// switchPending reports whether a suspended frontend did not yet report the result of its last order. Until then it gets no other order: the
// target that it reports may be outdated, and reversing the order could repeat for ever.
func switchPending(f *v1beta2.EngineFrontend) bool {
	return ofFrontend(f).wanted && f.Spec.SuspendRequestedAt != "" && !answered(f)
}

// lost reports whether the suspend request was answered, and the frontend no longer suspends its I/O.
func lost(f *v1beta2.EngineFrontend) bool {
	return answered(f) && f.Status.CurrentState == v1beta2.InstanceStateRunning
}

// polledAfter reports whether an engine answered a poll that was requested at this time or later.
func polledAfter(e *v1beta2.Engine, requested time.Time) bool {
	polled, err := time.Parse(time.RFC3339Nano, e.Status.LookedAt)
	return err == nil && !polled.Before(requested)
}

// hasHealthySuccessor reports whether another engine could continue without the replicas on down nodes.
func (f Facts) hasHealthySuccessor() bool {
	for _, r := range f.Replicas {
		if f.mode(r.Name) == v1beta2.ReplicaModeRW && f.healthy(r) && !f.nodeDown(r.Spec.NodeID) && f.running(ofReplica(r)) {
			return true
		}
	}
	return false
}

// resumeIO resumes suspended I/O once its target has everything that was acknowledged.
func (p *pass) resumeIO() {
	f, e := p.frontend, p.engine
	if f == nil || f.Spec.SuspendRequestedAt == "" || p.givenUp || !ofFrontend(f).wanted {
		return
	}
	asked, err := time.Parse(time.RFC3339Nano, f.Spec.SuspendRequestedAt)
	switch {
	case e == nil || !answered(f) || !leadsTo(f, e) || f.Spec.EngineName != e.Name || f.Status.SwitchoverInProgress():
		p.held(v1beta2.ReasonWaitingForFrontend, "All I/O is suspended until its frontend leads to its target.")
		return
	case (p.second != nil || !p.engineRuns()) && p.usesFailedReplica(), p.second != nil && !p.engineRuns():
		p.held(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("All I/O is suspended until its target on node %s, or another one, is up.",
			e.Spec.NodeID))
		return
	case !p.engineRuns() || err != nil: // nothing was concluded from its absence, and no engine takes over
	case !polledAfter(e, asked):
		if requested, err := time.Parse(time.RFC3339Nano, e.Spec.LookRequestedAt); err != nil || requested.Before(asked) {
			p.patch(StageStop, e, "lookRequestedAt", p.Now.UTC().Format(time.RFC3339Nano))
		}
		p.held(v1beta2.ReasonWaitingForEngine, "All I/O is suspended until its target was polled.")
		return
	case len(p.servedOnlyByFailed()) > 0: // else they would count as failed, and be the only ones with what is written now
		p.held(v1beta2.ReasonWaitingForEngine,
			"All I/O is suspended until the replica that its target serves from is no longer marked as failed.")
		return
	}
	p.patch(StageStop, f, "suspendRequestedAt", "")
	w := p.writeTo(StageStop, f)
	w.Events = append(w.Events, Event{Reason: EventIOGoesOn, Note: fmt.Sprintf("I/O resumes, to engine %s on %s.", e.Name, e.Spec.NodeID)})
}

// usesFailedReplica reports whether a replica counts as failed that the engine, by its last report, reads and writes.
func (f Facts) usesFailedReplica() bool {
	for _, r := range f.Replicas {
		if f.mode(r.Name) == v1beta2.ReplicaModeRW && (r.Spec.FailedAt != "" || f.failed[r.Name]) {
			return true
		}
	}
	return false
}
