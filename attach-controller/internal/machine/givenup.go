package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// goneFor is how long a target on a node that is down has to answer once its frontend is cut off from it.
const goneFor = 5 * time.Second

// A target away from home is given up when its node is down and it shall be elsewhere: the next engine goes on without the replica there.
// Kubernetes may be late, though, and the node back with nobody knowing; what its target acknowledged then, the next one would lack.
// [UPG-1] So the frontend is cut off from it before anything is concluded:
//
//	a copy is left elsewhere      → the frontend is asked to hold all I/O
//	it holds                      → the target is asked for a look, and the time of that becomes the frontend's new request
//	it answers, or goneFor is up  → what it says, or said last, decides: its replicas there are marked, the next engine is made, the frontend moves
//	the frontend leads where its spec says since, to an engine that runs and was looked at, with its replicas marked as it says → I/O goes on
//
// All of it is in the objects. A target that is back before the frontend has left is the volume's again.

// cutOff reports whether the volume's engine acknowledges nothing any more, and was asked since then what it knows.
func (p *pass) cutOff() bool {
	if p.Rules.off(RuleCutOffFirst) {
		return true
	}
	p.givenUp = true
	f, request, now := p.frontend, p.frontend.Spec.SuspendRequestedAt, p.Now.UTC().Format(time.RFC3339Nano)
	why := fmt.Sprintf("All I/O is held: node %s is down, and the target there is given up;", p.engine.Spec.NodeID)
	switch asked, err := time.Parse(time.RFC3339Nano, request); {
	case err != nil, lost(f):
		p.patch(StageStop, f, "suspendRequestedAt", now)
		w := p.writeTo(StageStop, f)
		w.Events = append(w.Events, Event{Reason: EventIOHeld, Warning: true, Note: why + " another one takes over."})
		return p.held(v1beta2.ReasonNodeDown, why+" that is asked for.")
	case !answered(f) || f.Status.CurrentState != v1beta2.InstanceStateSuspended:
		return p.held(v1beta2.ReasonNodeDown, fmt.Sprintf("%s that was asked for, and the frontend is %s.", why, f.Status.CurrentState))
	case p.engine.Spec.LookRequestedAt != request:
		p.patch(StageStop, p.engine, "lookRequestedAt", now)
		p.patch(StageStop, f, "suspendRequestedAt", now)
		return p.held(v1beta2.ReasonNodeDown, why+" it is asked once more what it knows.")
	case !polledAfter(p.engine, asked) && p.Now.Before(asked.Add(goneFor)):
		p.requeueAt(asked.Add(goneFor))
		return p.held(v1beta2.ReasonNodeDown, why+" it is asked once more what it knows.")
	}
	p.out.Fresh, p.out.FreshFrontends = true, true
	p.held(v1beta2.ReasonNodeDown, why+" another one takes over.")
	return true
}

// held says why I/O is held, whatever else is waited for.
func (p *pass) held(reason, message string) bool {
	p.why = waiting{reason, message}
	return false
}

// holdOn is the request for a frontend that is told to go elsewhere: a new one, so that its answer says where it leads since. One that
// starts anew holds nothing.
func (p *pass) holdOn(i instance) string {
	if !i.wanted {
		return ""
	}
	return p.Now.UTC().Format(time.RFC3339Nano)
}

// answered reports whether the request to hold I/O was answered.
func answered(f *v1beta2.EngineFrontend) bool {
	return f.Spec.SuspendRequestedAt != "" && f.Status.SuspendedAt == f.Spec.SuspendRequestedAt
}

// turning reports whether a frontend that holds its I/O did not say yet what became of what it was told last. Until then it is told nothing
// else: what it says of where it leads may be of before, and turning it back and forth would never end.
func (p *pass) turning(f *v1beta2.EngineFrontend) bool {
	return ofFrontend(f).wanted && f.Spec.SuspendRequestedAt != "" && !answered(f)
}

// lost reports whether it was answered, and that the frontend holds its I/O no more.
func lost(f *v1beta2.EngineFrontend) bool {
	return answered(f) && f.Status.CurrentState == v1beta2.InstanceStateRunning
}

// polledAfter reports whether an engine answered a look which was requested then, or later.
func polledAfter(e *v1beta2.Engine, requested time.Time) bool {
	polled, err := time.Parse(time.RFC3339Nano, e.Status.LookedAt)
	return err == nil && !polled.Before(requested)
}

// hasHealthySuccessor reports whether another engine could go on without the replicas on nodes that are down.
func (p *pass) hasHealthySuccessor() bool {
	for _, r := range p.Replicas {
		if p.mode(r.Name) == v1beta2.ReplicaModeRW && p.healthy(r) && !p.down(r.Spec.NodeID) && p.running(ofReplica(r)) {
			return true
		}
	}
	return false
}

// resumeIO lets I/O go on that was held, where it finds everything that was acknowledged.
func (p *pass) resumeIO() {
	f, e := p.frontend, p.engine
	if f == nil || f.Spec.SuspendRequestedAt == "" || p.givenUp || !ofFrontend(f).wanted {
		return
	}
	asked, err := time.Parse(time.RFC3339Nano, f.Spec.SuspendRequestedAt)
	switch {
	case e == nil || !answered(f) || !leadsTo(f, e) || f.Spec.EngineName != e.Name || f.Status.SwitchoverInProgress():
		p.held(v1beta2.ReasonWaitingForFrontend, "All I/O is held until its frontend leads to its target.")
		return
	case (p.second != nil || !p.engineUp()) && p.marked(), p.second != nil && !p.engineUp():
		p.held(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("All I/O is held until its target on node %s, or another one, is up.",
			e.Spec.NodeID))
		return
	case !p.engineUp() || err != nil: // nothing was concluded from its absence, and nobody takes over
	case !polledAfter(e, asked):
		if requested, err := time.Parse(time.RFC3339Nano, e.Spec.LookRequestedAt); err != nil || requested.Before(asked) {
			p.patch(StageStop, e, "lookRequestedAt", p.Now.UTC().Format(time.RFC3339Nano))
		}
		p.held(v1beta2.ReasonWaitingForEngine, "All I/O is held until its target was looked at.")
		return
	case len(p.alone()) > 0: // else they would count as failed, and alone have what is written now
		p.held(v1beta2.ReasonWaitingForEngine, "All I/O is held until the replica that its target serves from is no more marked as failed.")
		return
	}
	p.patch(StageStop, f, "suspendRequestedAt", "")
	w := p.writeTo(StageStop, f)
	w.Events = append(w.Events, Event{Reason: EventIOGoesOn, Note: fmt.Sprintf("I/O goes on, to engine %s on %s.", e.Name, e.Spec.NodeID)})
}

// marked reports whether a replica counts as failed which the engine, as far as it said, reads and writes.
func (p *pass) marked() bool {
	for _, r := range p.Replicas {
		if p.mode(r.Name) == v1beta2.ReplicaModeRW && (r.Spec.FailedAt != "" || p.failed[r.Name]) {
			return true
		}
	}
	return false
}
