package orphan

import "drover.dev/drover/shared/api/v1beta2"

// frontend: engine-frontends are not evaluated in this version.
func frontend(w World, i *Instance) (Evaluation, bool) {
	if i.Type == v1beta2.InstanceTypeEngine || i.Type == v1beta2.InstanceTypeReplica {
		return Evaluation{}, false
	}
	return undecided(v1beta2.ReasonFrontendNotJudged, "%s is of type %q, which is not evaluated.", w.Key.Name, i.Type), true
}

// noClaim: a live runtime without an object is an orphan, and so is a v2 replica of which only the data is left.
func noClaim(w World, i *Instance) (Evaluation, bool) {
	switch {
	case w.claim() != nil:
		return Evaluation{}, false
	case w.isV2() && i.Type == v1beta2.InstanceTypeReplica && i.State == v1beta2.InstanceStateError && foreign(w.Node, i.DiskUUID):
		return orphaned(v1beta2.ReasonForeignData,
			"No Replica named %s exists, and %s cannot read its data (%s). It may have been there before its disk "+
				"came to this cluster, so no policy deletes it. Deleting this orphan destroys the data.", w.Key.Name, w.Key.InstanceManager,
			i.State), true
	case live(i.State):
		return orphaned(v1beta2.ReasonNoOwnerCR,
			"No Engine or Replica named %s exists, but %s runs it as %s (%s). Delete this orphan to end it.",
			w.Key.Name, w.Key.InstanceManager, i.Type, i.State), true
	case w.isV2() && i.Type == v1beta2.InstanceTypeReplica && dataOnly(i.State):
		reason, origin := v1beta2.ReasonDataOnly, ""
		if foreign(w.Node, i.DiskUUID) {
			reason, origin = v1beta2.ReasonForeignData,
				" It may have been there before its disk came to this cluster, so no policy deletes it."
		}
		return orphaned(reason, "No Replica named %s exists, but its data is on %s (%s).%s Deleting this orphan destroys the data.",
			w.Key.Name, w.Manager.Node, i.State, origin), true
	}
	return undecided(v1beta2.ReasonNotLive, "%s is %s.", w.Key.Name, i.State), true
}

func dataOnly(state string) bool {
	return state == v1beta2.InstanceStateStopped || state == v1beta2.InstanceStatePending
}

// notLive: while its object exists, a runtime that is not live is never an orphan; a stopped v2 replica is the
// user's data.
func notLive(w World, i *Instance) (Evaluation, bool) {
	if live(i.State) {
		return Evaluation{}, false
	}
	return undecided(v1beta2.ReasonNotLive, "%s is %s and its object exists.", w.Key.Name, i.State), true
}

// deleting: the object is being deleted, and its controllers end the runtime.
func deleting(w World, _ *Instance) (Evaluation, bool) {
	if !w.claim().Deleting {
		return Evaluation{}, false
	}
	return undecided(v1beta2.ReasonCRDeleting, "The object of %s is being deleted.", w.Key.Name), true
}

// changing: state and ownership may change at any moment. A running object that names no instance manager has not reported
// all of its state yet.
func changing(w World, _ *Instance) (Evaluation, bool) {
	c := w.claim()
	if c.CurrentState == c.DesireState && (c.CurrentState != v1beta2.InstanceStateRunning || c.InstanceManager != "") {
		return Evaluation{}, false
	}
	return undecided(v1beta2.ReasonStateChanging, "The current state of the object of %s is %q, its desired state "+
			"%q.", w.Key.Name, c.CurrentState, c.DesireState),
		true
}

// running: the owner is checked first, then the instance manager.
func running(w World, i *Instance) (Evaluation, bool) {
	c := w.claim()
	if c.CurrentState != v1beta2.InstanceStateRunning {
		return Evaluation{}, false
	}
	if c.OwnerID == "" || c.OwnerID != c.NodeID {
		return undecided(v1beta2.ReasonOwnerElsewhere, "The object of %s belongs to node %q, but is owned by %q.", w.Key.Name, c.NodeID,
			c.OwnerID), true
	}
	if c.InstanceManager == w.Key.InstanceManager {
		return Evaluation{Decision: Claimed, Reason: v1beta2.ReasonClaimed, Message: w.Key.Name + " is to run here."}, true
	}
	return orphaned(v1beta2.ReasonOwnedByOtherInstanceManager, "%s runs on %s of node %s; %s still runs it, too, as %s (%s).",
		w.Key.Name, c.InstanceManager, c.NodeID, w.Key.InstanceManager, i.Type, i.State), true
}

// stopped: a live runtime of a stopped object is an orphan wherever it runs.
func stopped(w World, i *Instance) (Evaluation, bool) {
	if w.claim().CurrentState != v1beta2.InstanceStateStopped {
		return Evaluation{}, false
	}
	return orphaned(v1beta2.ReasonStoppedButPresent, "The object of %s is stopped, but %s still runs it as %s (%s).",
		w.Key.Name, w.Key.InstanceManager, i.Type, i.State), true
}
