package orphan

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var withdrawals = []string{v1beta2.ReasonInstanceGone, v1beta2.ReasonUUIDMismatch, v1beta2.ReasonClaimed, v1beta2.ReasonRenamed,
	v1beta2.ReasonNotCleanable}

// released speaks for an orphan that is being deleted and waits for others only.
func released(w World) *ruleResult {
	if !deleting(w) || held(w) {
		return nil
	}
	return &ruleResult{outcome: OutcomeReleased, message: "The orphan waits for finalizers of others."}
}

// withdrawn ends an orphan that im-monitor took back. Withdrawn=True is final: whatever else is said, nothing of it is
// executed. A reason that this version does not know may have a condition that it does not know: it waits.
func withdrawn(w World) *ruleResult {
	c := conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanWithdrawn)
	if c == nil || c.Status != v1beta2.ConditionTrue {
		return nil
	}
	if slices.Contains(withdrawals, c.Reason) {
		return &ruleResult{outcome: OutcomeWithdrawn, message: c.Message, finish: finishEnd}
	}
	return waitForPeer(w, "im-monitor withdrew the orphan with a reason that this version of orphan-controller does not know; nothing "+
		"is executed. Update orphan-controller.")
}

// terminated ends an orphan whose instance's end im-monitor has proven. One that nobody deleted is im-monitor's to
// withdraw; there is nothing left that policy could want.
func terminated(w World) *ruleResult {
	c := conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanInstanceState)
	switch {
	case c == nil || c.Status != v1beta2.ConditionFalse:
		return nil
	case c.Reason != v1beta2.InstanceStateTerminated:
		return waitForPeer(w, "im-monitor says that the instance is not there, with a reason that this version of orphan-controller "+
			"does not know; nothing is executed. Update orphan-controller.")
	case !deleting(w):
		return &ruleResult{outcome: OutcomeTerminated, message: c.Message}
	}
	return &ruleResult{outcome: OutcomeTerminated, message: c.Message, finish: finishEnd}
}

// waitForPeer does nothing because of words of a newer neighbour. While the orphan is being deleted it says so.
func waitForPeer(w World, message string) *ruleResult {
	r := &ruleResult{outcome: OutcomeUnknown, message: message}
	if deleting(w) {
		r.own, r.approval, r.reason, r.event = ownApproval, v1beta2.ConditionFalse, v1beta2.ReasonNotJudged, EventHeld
	}
	return r
}
