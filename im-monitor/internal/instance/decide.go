package instance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// refusalsToFail is the number of consecutive refusals after which the instance counts as failed.
const refusalsToFail = 3

// Decide returns the status and the next call. It is total, deterministic and idempotent.
func Decide(w World) Verdict {
	if w.Held.After(w.Now) {
		v := keep(w, ReasonHeld, "A server may still execute a deletion of the leader before this one.")
		v.At = w.Held
		return v
	}
	v := decide(w)
	if v.Call.Op != OpNone && v.Call.Identity() == w.Tried && w.NotBefore.After(w.Now) {
		v.Call, v.Reason, v.At = Call{}, ReasonBackoff, w.NotBefore
	}
	problems(w, &v)
	v.Events = transitions(w, v)
	return v
}

// problems keeps the obstacles of a start in the status until the instance runs, also while it is stopped in between, so that the status
// shows why a volume does not start.
func problems(w World, v *Verdict) {
	s := &v.Status
	s.Creation, s.BackingImage, s.Switching = w.Status.Creation, Problem{}, Problem{}
	if stuck(v.Reason) {
		s.Switching = Problem{v.Reason, v.Message}
	}
	switch {
	case waitsForImage(v.Reason):
		s.BackingImage = Problem{v.Reason, v.Message}
	case refused(v.Reason):
		s.Creation = Problem{v.Reason, v.Message}
	case s.State == v1beta2.InstanceStateRunning, s.State == v1beta2.InstanceStateSuspended:
		s.Creation = Problem{}
	case v.Reason == ReasonFailed && s.State == v1beta2.InstanceStateError && w.Status.State != s.State:
		s.Creation = Problem{v1beta2.ReasonInstanceCreationFailure, v.Message}
	}
}

func decide(w World) Verdict {
	switch {
	case !w.Object.Running:
		return stop(w)
	case w.Status.supervised() && w.Here != nil && w.Here.Ended && w.Refusals < refusalsToFail:
		// It was stopped as requested, and is requested again. An instance that was refused was deleted to be created again.
		return settle(w)
	case w.Status.supervised():
		return leftover(w, supervise(w))
	default:
		return start(w)
	}
}

// supervise reports the state of an instance that was listed after its creation. It never starts the instance again: attach-controller
// decides that, by stopping it first. For that, started is kept in every state.
func supervise(w World) Verdict {
	v := watch(w)
	if v.Call.Op != OpCreate { // a lost frontend is created again
		v.Status.Started = true
	}
	return v
}

func watch(w World) Verdict {
	entry := w.entry()
	switch {
	case entry != nil:
		return report(w, entry)
	case w.Status.State == v1beta2.InstanceStateError: // it stays in error until it was stopped
		return keep(w, ReasonFailed, "")
	case w.HereGone && !w.frontend():
		return missing(w, "The instance manager that ran it no longer exists.")
	case w.Here == nil:
		return keep(w, ReasonNoInstanceManager, w.NoPlace).in(v1beta2.InstanceStateUnknown)
	case !w.Here.Known && w.Here.PodMissing && !w.Node.Out() && !w.frontend():
		return missing(w, fmt.Sprintf("%s has no pod.", w.Here.InstanceManager))
	case !w.Here.Known:
		return blind(w)
	}
	return unlisted(w)
}

// unlisted is about an instance that the newest list does not have.
func unlisted(w World) Verdict {
	switch {
	case w.Here.Absent && w.frontend() && w.Node.Upgrading && w.Status.Switchover.Phase == "":
		return lost(w)
	case w.Here.Absent:
		return missing(w, fmt.Sprintf("%s no longer lists it.", w.Here.InstanceManager))
	}
	v := keep(w, ReasonUnproven, "")
	if len(w.Here.Unloaded) > 0 {
		v = keep(w, ReasonDiskNotLoaded, unloaded(w.Here)).in(v1beta2.InstanceStateUnknown)
	}
	v.ExpectAbsence = true
	return v
}

// blind reports that the state of an instance cannot be polled. Until the first call of this process to the server succeeded or failed,
// the state is kept: a new process would otherwise report every healthy instance as unknown.
func blind(w World) Verdict {
	if w.Here.Unheard && !w.Node.Out() {
		return keep(w, ReasonUnknown, fmt.Sprintf("The first list of %s is being read.", w.Here.InstanceManager))
	}
	return keep(w, ReasonUnknown, unknownAt(w.Here)).in(v1beta2.InstanceStateUnknown)
}

// unknownAt reports that nothing is known of the instances of an instance manager.
func unknownAt(p *Place) string {
	if p.PodOnly {
		return fmt.Sprintf("InstanceManager %s was deleted, and its pod has not ended: what runs there is unknown until it has.",
			p.InstanceManager)
	}
	return fmt.Sprintf("The instances on %s are unknown.", p.InstanceManager)
}

// unloaded reports the disks that are not loaded, so that a list proves nothing.
func unloaded(p *Place) string {
	return fmt.Sprintf("%s has not loaded disk %s of node %s, so it is unknown whether its data is there; see the conditions of the disk "+
		"in the Node's status.",
		p.InstanceManager, strings.Join(p.Unloaded, ", "), p.Node)
}

func missing(w World, message string) Verdict {
	return keep(w, ReasonMissing, message).in(v1beta2.InstanceStateError)
}

// start starts the instance. An instance that is listed although the status never began it is of an earlier run: it may write with
// an earlier engine's map, and ends first.
func start(w World) Verdict {
	if v, ok := mayBegin(w); !ok {
		return v
	}
	if entry := w.Here.Entry; entry != nil {
		switch {
		case w.v2() && w.replica() && entry.State == v1beta2.InstanceStateStopped: // the user's data, to be served again
		case ending(w, entry):
			return endAgain(w, w.Here, keep(w, ReasonChanging, "It is still ending."))
		case w.Status.Starting && w.v2() && w.engine() && entry.State == v1beta2.InstanceStatePending:
			return endPending(w, entry)
		case w.Status.Starting && entry.State != v1beta2.InstanceStateStopped:
			return report(w, entry)
		case w.MayUse != "":
			return inUse(w)
		default:
			return calling(w, w.Status, deletion(w, w.Here))
		}
	}
	if v, ok := guard(w); !ok {
		return v
	}
	if w.Refusals >= refusalsToFail {
		v := keep(w, ReasonRefused, w.Refusal).in(v1beta2.InstanceStateError)
		v.Status.Starting, v.Status.Started, v.Status.InstanceManager, v.Status.NodeDown = false, true, w.Here.InstanceManager, ""
		return v
	}
	creation, refusal := creation(w)
	if refusal != nil {
		v := rest(w, refusal.reason, refusal.message)
		v.WantsCopy = w.lacksCopy()
		return v
	}
	v := calling(w, w.Status, Call{Op: OpCreate, InstanceManager: w.Here.InstanceManager, Create: creation, Ahead: ahead(w)})
	v.WantsCopy = w.lacksCopy()
	return v
}

// pendingPatience is how long a v2 engine may be pending whose creation this process did not see refused: far longer than a server takes
// for a creation.
const pendingPatience = 5 * time.Minute

// endPending ends a v2 engine that stays pending. A server refuses an engine if it cannot ask one of the replicas for its size, lists the
// engine as pending from then on, and refuses its name. With the deletion the name is free, and the next creation succeeds or is refused
// again, with the reason.
func endPending(w World, e *Entry) Verdict {
	if due := w.TransientSince.Add(pendingPatience); w.Refusals == 0 && (w.TransientSince.IsZero() || due.After(w.Now)) {
		v := report(w, e)
		if !w.TransientSince.IsZero() {
			v.At = due
		}
		return v
	}
	return calling(w, w.Status, deletion(w, w.Here))
}

// ahead is the status that is written before a creation.
func ahead(w World) Status {
	return Status{State: v1beta2.InstanceStateStarting, Starting: true, InstanceManager: w.Here.InstanceManager}
}

// mayBegin checks the obstacles of any start, in this order: the object, its node, instances of its name elsewhere, its instance
// manager.
func mayBegin(w World) (Verdict, bool) {
	switch live := slices.IndexFunc(w.Elsewhere,
		func(p Place) bool { return p.Known && !p.Out && p.Entry != nil && lives(p.Entry.State) }); {
	case w.Object.Ends():
		return rest(w, ReasonDeleting, "The object is being deleted."), false
	case w.Object.NodeID == "":
		return rest(w, ReasonNoNode, "The object has no node."), false
	case w.Node.Out():
		return rest(w, ReasonNodeOut, fmt.Sprintf("Node %s is down or out of service.", w.Node.Name)), false
	case live >= 0:
		return calling(w, w.Status, deletion(w, &w.Elsewhere[live])), false
	case w.Here == nil:
		return rest(w, ReasonNoInstanceManager, w.NoPlace), false
	case !w.Here.Running && w.Here.CannotStart != "":
		return rest(w, ReasonManagerCannotStart,
			fmt.Sprintf("Instance manager %s of node %s does not run: %s", w.Here.InstanceManager, w.Node.Name, w.Here.CannotStart)), false
	case !w.Here.Running || !w.Here.Known:
		return rest(w, ReasonUnknown, unknownAt(w.Here)), false
	}
	return Verdict{}, true
}

// rest waits with the status stopped, unless a start is in progress.
func rest(w World, reason, message string) Verdict {
	v := keep(w, reason, message)
	if !w.Status.Begun() {
		v.Status.State = v1beta2.InstanceStateStopped
	}
	return v
}

func calling(w World, status Status, call Call) Verdict {
	return Verdict{Status: status, Call: call, Reason: ReasonCalling,
		Message: fmt.Sprintf("%s is asked to %s it.", call.InstanceManager, call.Op)}
}

// lives reports whether a state is that of a runtime that holds resources and may do I/O, or is about to.
func lives(state string) bool {
	switch state {
	case v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopping, v1beta2.InstanceStateTerminating:
		return false
	}
	return true
}

// ending reports whether a listed instance is ending by itself.
func ending(w World, e *Entry) bool {
	switch e.State {
	case v1beta2.InstanceStateStopping, v1beta2.InstanceStateTerminating:
		return true
	case v1beta2.InstanceStateStopped:
		return !w.v2()
	}
	return false
}

// deletion ends the listed instance of a place and keeps a replica's data. Where there is no UUID, the call uses the name, which
// the object claims.
func deletion(w World, p *Place) Call {
	e := p.Entry
	return Call{
		Op: OpDelete, InstanceManager: p.InstanceManager, UUID: e.UUID, ByName: e.UUID == "", DiskUUID: e.DiskUUID,
		Cleanup: w.v2() && w.engine(), Poll: w.engine() && e.State == v1beta2.InstanceStateRunning,
	}
}
