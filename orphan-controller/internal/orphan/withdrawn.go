package orphan

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var withdrawals = []string{v1beta2.ReasonInstanceGone, v1beta2.ReasonUUIDMismatch, v1beta2.ReasonClaimed, v1beta2.ReasonRenamed,
	v1beta2.ReasonNotCleanable}

// released applies to an orphan that is being deleted and waits only for finalizers of others.
func released(w World) *ruleResult {
	if !deleting(w) || held(w) {
		return nil
	}
	return &ruleResult{outcome: OutcomeReleased, message: "The orphan waits for finalizers of others."}
}

// withdrawn ends an orphan that im-monitor withdrew. Withdrawn=True is final: other conditions are ignored and nothing is
// executed. A reason that this version does not know may come with a condition that it does not know: it waits.
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

// terminated ends an orphan whose instance's end im-monitor has proven. im-monitor withdraws one that is not being
// deleted; no instance is left that policy could delete.
func terminated(w World) *ruleResult {
	c := conditions.Get(w.Orphan.Status.Conditions, v1beta2.OrphanInstanceState)
	switch {
	case c == nil || c.Status != v1beta2.ConditionFalse:
		return nil
	case c.Reason != v1beta2.InstanceStateTerminated:
		return waitForPeer(w, "im-monitor reports that the instance is not there, with a reason that this version of orphan-controller "+
			"does not know; nothing is executed. Update orphan-controller.")
	case !deleting(w):
		return &ruleResult{outcome: OutcomeTerminated, message: c.Message}
	}
	return &ruleResult{outcome: OutcomeTerminated, message: c.Message, finish: finishEnd}
}

// waitForPeer does nothing because a newer peer controller wrote a value that this version does not know. While the orphan is being deleted
// a condition reports it.
func waitForPeer(w World, message string) *ruleResult {
	r := &ruleResult{outcome: OutcomeUnknown, message: message}
	if deleting(w) {
		r.own, r.approval, r.reason, r.event = ownApproval, v1beta2.ConditionFalse, v1beta2.ReasonNotJudged, EventHeld
	}
	return r
}
