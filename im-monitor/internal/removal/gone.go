package removal

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// gone reports whether it is on record that no instance of a v1 replica runs. The record counts for the present generation only: a start
// would need another spec.
func gone(r Replica) bool {
	return r.Said != nil && r.Said.Status == v1beta2.ConditionTrue && r.Said.ObservedGeneration == r.Generation
}

// evaluateGone decides what the condition InstanceGone of a v1 replica reports: every instance manager of its node has to be heard, and
// none may list an instance of that name.
func evaluateGone(w World) Verdict {
	r := w.Replica
	switch {
	case w.Node == nil:
		return Verdict{} // attach-controller releases it
	case w.Node.Down:
		return remains(v1beta2.ReasonUnreachable, "Node %s is down. The directory of replica %s is removed when the node is back; if it never "+
			"comes back, delete its Node.", r.Node, r.Name)
	case len(w.Places) == 0:
		return remains(v1beta2.ReasonUnreachable, "Node %s has no v1 instance manager that runs; the directory of replica %s is removed when "+
			"it has one.", r.Node, r.Name)
	}
	absent := true
	for _, p := range w.Places {
		switch {
		case !p.Known:
			return remains(v1beta2.ReasonUnreachable, "%s does not answer; the directory of replica %s is removed when it does. If this "+
				"persists, check its pod and the network to node %s.", p.InstanceManager, r.Name, r.Node)
		case p.Instance != nil && ends(p.Instance.State):
			return Verdict{} // its entry is being deleted
		case p.Instance != nil && ended(r):
			return remains(v1beta2.ReasonStillPresent, "%s lists an instance %s (%s, UUID %s), which the status of the Replica does not have. "+
				"Its directory is removed once that instance has ended: look at its Orphan, or restart the instance manager.",
				p.InstanceManager, r.Name, p.Instance.State, p.Instance.UUID)
		}
		absent = absent && p.Absent
	}
	switch {
	case !ended(r):
		return Verdict{} // its instance is being stopped
	case !absent:
		return Verdict{Step: Prove}
	}
	return Verdict{Condition: goneCondition(r, v1beta2.ConditionTrue, v1beta2.ReasonInstanceGone, fmt.Sprintf("No instance manager of "+
		"node %s runs replica %s. Its directory is removed by the disk-controller of that node.", r.Node, r.Name))}
}

// ends reports whether a listed process does not run, or not for long: a server lists it until it was deleted there.
func ends(state string) bool {
	return state == v1beta2.InstanceStateStopped || state == v1beta2.InstanceStateStopping || state == v1beta2.InstanceStateTerminated
}

// ended reports whether nothing runs for a v1 replica, and nothing is to, as far as its own object reports.
func ended(r Replica) bool { return stopped(r) && !r.WantsToRun }

func remains(reason, format string, args ...any) Verdict {
	return Verdict{Condition: goneCondition(Replica{}, v1beta2.ConditionFalse, reason, fmt.Sprintf(format, args...))}
}

func goneCondition(r Replica, status v1beta2.ConditionStatus, reason, message string) *v1beta2.Condition {
	return &v1beta2.Condition{Type: v1beta2.ReplicaInstanceGone, Status: status, Reason: reason, Message: message,
		ObservedGeneration: r.Generation}
}
