package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// answerWithin is how long a target on a down node has to answer a poll after all I/O to it was suspended.
const answerWithin = 5 * time.Second

// The volume fails over from a relocated target when its node is down and the target is wanted elsewhere: the next engine continues
// without the replica on that node. Kubernetes may report the node late, so that the node is already back, and the next engine would lack
// what its target acknowledged meanwhile. [UPG-1] So all I/O is suspended before anything is concluded:
//
//	a copy is left elsewhere      → request the frontend to suspend all I/O
//	it is suspended               → request a poll of the target; the frontend's suspend request gets the same time
//	it answers, or answerWithin is up  → by the last reported modes mark its replicas there, create the next engine, move the frontend
//	the frontend leads where its spec says, to an engine that runs and was polled, with its replicas marked → resume I/O
//
// All of this is in the objects. A target that is back before the frontend has left is the volume's again.

// ioSuspension suspends the I/O to a target before the volume fails over from it.
type ioSuspension struct{ *draft }

// suspendIO requests that the frontend suspends all I/O; it reports whether the volume's engine acknowledges no more, and was polled since
// then.
func (x ioSuspension) suspendIO() bool {
	x.failsOver = true
	f, request, now := x.frontend, x.frontend.Spec.SuspendRequestedAt, x.Now.UTC().Format(time.RFC3339Nano)
	down := fmt.Sprintf("node %s is down, and the volume fails over from the target there;", x.engine.Spec.NodeID)
	before, why := "All I/O is being suspended: "+down, "All I/O is suspended: "+down
	switch asked, err := time.Parse(time.RFC3339Nano, request); {
	case err != nil, suspensionLost(f):
		x.patch(StageRun, f, "suspendRequestedAt", now)
		w := x.writeTo(StageRun, f)
		w.Events = append(w.Events, Event{Reason: EventIOHeld, Warning: true, Note: before + " another target takes over."})
		return x.waitSuspended(v1beta2.ReasonNodeDown, before+" the suspension is being requested.")
	case !answered(f) || f.Status.CurrentState != v1beta2.InstanceStateSuspended:
		return x.waitSuspended(v1beta2.ReasonNodeDown,
			fmt.Sprintf("%s the suspension was requested, and the frontend is %s.", before, f.Status.CurrentState))
	case x.engine.Spec.LookRequestedAt != request:
		x.patch(StageRun, x.engine, "lookRequestedAt", now)
		x.patch(StageRun, f, "suspendRequestedAt", now)
		return x.waitSuspended(v1beta2.ReasonNodeDown, why+" the target is polled once more.")
	case !polledAfter(x.engine, asked) && x.Now.Before(asked.Add(answerWithin)):
		x.requeueAt(asked.Add(answerWithin))
		return x.waitSuspended(v1beta2.ReasonNodeDown, why+" the target is polled once more.")
	}
	x.out.Fresh, x.out.FreshFrontends = true, true
	x.waitSuspended(v1beta2.ReasonNodeDown, why+" another target takes over.")
	return true
}

// suspendRequest returns the suspend request for a frontend that is ordered to switch to another target: a new one, so that its answer
// reports where the frontend leads since then. A frontend that restarts suspends nothing.
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

// switchPending reports whether a suspended frontend did not yet report the result of its last order. Until then it gets no other order:
// the target that it reports may be outdated, and reversing the order could repeat for ever.
func switchPending(f *v1beta2.EngineFrontend) bool {
	return ofFrontend(f).wanted && f.Spec.SuspendRequestedAt != "" && !answered(f)
}

// suspensionLost reports whether the suspend request was answered, and the frontend no longer suspends its I/O.
func suspensionLost(f *v1beta2.EngineFrontend) bool {
	return answered(f) && f.Status.CurrentState == v1beta2.InstanceStateRunning
}

// polledAfter reports whether an engine answered a poll that was requested at this time or later.
func polledAfter(e *v1beta2.Engine, requested time.Time) bool {
	polled, err := time.Parse(time.RFC3339Nano, e.Status.LookedAt)
	return err == nil && !polled.Before(requested)
}

// hasHealthySuccessor reports whether another engine could continue without the replicas on down nodes.
func (f Facts) hasHealthySuccessor() bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool {
		return f.mode(r.Name) == v1beta2.ReplicaModeRW && f.healthy(r) && !f.nodeDown(r.Spec.NodeID) && f.running(ofReplica(r))
	})
}

// resumption resumes suspended I/O once its target has everything that was acknowledged.
type resumption struct{ *draft }

func (x resumption) decide() {
	f, e := x.frontend, x.engine
	if f == nil || f.Spec.SuspendRequestedAt == "" || x.failsOver || !ofFrontend(f).wanted {
		return
	}
	asked, err := time.Parse(time.RFC3339Nano, f.Spec.SuspendRequestedAt)
	running := x.engineRuns() && err == nil // else nothing was concluded from its absence, and no engine takes over
	switch {
	case !x.frontendLeadsAsRequested():
		x.waitSuspended(v1beta2.ReasonWaitingForFrontend, "All I/O is suspended until its frontend leads to its target.")
	case x.successorPending():
		x.waitSuspended(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("All I/O is suspended until its target on node %s, or another one, is up.",
			e.Spec.NodeID))
	case running && !polledAfter(e, asked):
		x.requestPollAt(asked)
		x.waitSuspended(v1beta2.ReasonWaitingForEngine, "All I/O is suspended until its target was polled.")
	case running && len(x.servedOnlyByFailed()) > 0: // else they would count as failed, and be the only ones with what is written now
		x.waitSuspended(v1beta2.ReasonWaitingForEngine,
			"All I/O is suspended until the replica that its target serves from is no longer marked as failed.")
	default:
		x.patch(StageRun, f, "suspendRequestedAt", "")
		w := x.writeTo(StageRun, f)
		w.Events = append(w.Events, Event{Reason: EventIOGoesOn,
			Note: fmt.Sprintf("I/O resumes, to engine %s on %s.", e.Name, e.Spec.NodeID)})
	}
}

// requestPollAt requests a poll of the engine, unless one was requested at this time or later.
func (x resumption) requestPollAt(asked time.Time) {
	if requested, err := time.Parse(time.RFC3339Nano, x.engine.Spec.LookRequestedAt); err != nil || requested.Before(asked) {
		x.patch(StageRun, x.engine, "lookRequestedAt", x.Now.UTC().Format(time.RFC3339Nano))
	}
}

// frontendLeadsAsRequested reports whether the frontend answered the suspend request, and leads to the volume's engine, as its spec says.
func (f Facts) frontendLeadsAsRequested() bool {
	frontend := f.frontend
	return f.engine != nil && answered(frontend) && leadsTo(frontend, f.engine) && frontend.Spec.EngineName == f.engine.Name &&
		!frontend.Status.SwitchoverInProgress()
}

// successorPending reports whether another engine may take over, so that what is written now may be lost.
func (f Facts) successorPending() bool {
	return (f.second != nil || !f.engineRuns()) && f.usesFailedReplica() || f.second != nil && !f.engineRuns()
}

// usesFailedReplica reports whether a replica counts as failed that the engine, by its last report, reads and writes.
func (f Facts) usesFailedReplica() bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool {
		return f.mode(r.Name) == v1beta2.ReplicaModeRW && (r.Spec.FailedAt != "" || f.failed[r.Name])
	})
}
