package model

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// patientRounds is the number of quiet rounds in which a wait may have no reason: a status follows the facts one round later.
const patientRounds = 2

// passing lists the reasons of waits that end by themselves: in a settled world they have ended. Each other reason names a node, a user or
// a person who has to act.
var passing = []string{
	v1beta2.ReasonAttaching, v1beta2.ReasonMigrating, v1beta2.ReasonWaitingForDetach, v1beta2.ReasonLowerPriority,
	v1beta2.ReasonWaitingForData, v1beta2.ReasonNodeUpgrading, v1beta2.ReasonDetaching, v1beta2.ReasonWaitingForReplicas,
	v1beta2.ReasonWaitingForEngine, v1beta2.ReasonWaitingForFrontend, v1beta2.ReasonRestoring, v1beta2.ReasonCloning,
}

// listReasons returns the reason of each wait: of each ticket that is not satisfied, and of the volume if it is not attached or detached
// as its spec asks. untold names the first wait that no condition explains.
func (w *world) listReasons() (reasons []string, untold string) {
	for _, t := range w.tickets() {
		if w.satisfied(t) {
			continue
		}
		reason := explanation(w.attachment.now.Status.AttachmentTicketStatuses[t.ID].Conditions, v1beta2.TicketSatisfied)
		if reason == "" {
			return nil, "ticket " + t.ID
		}
		reasons = append(reasons, reason)
	}
	v := w.volume.now
	if v.Spec.NodeID != "" && v.Status.State != v1beta2.VolumeStateAttached || v.Status.State == v1beta2.VolumeStateDetaching {
		reason := explanation(v.Status.Conditions, v1beta2.VolumeAttached)
		if reason == "" {
			return nil, fmt.Sprintf("the volume, which is %s and for %q", v.Status.State, v.Spec.NodeID)
		}
		reasons = append(reasons, reason)
	}
	if v.Status.Robustness == v1beta2.VolumeRobustnessFaulted && !conditions.IsTrue(v.Status.Conditions, v1beta2.VolumeFaulted) {
		return nil, "the faulted volume"
	}
	return reasons, ""
}

// explanation returns the reason of a condition that is False and has a sentence, else "".
func explanation(list []v1beta2.Condition, conditionType string) string {
	c := conditions.Get(list, conditionType)
	if c == nil || c.Status != v1beta2.ConditionFalse || c.Message == "" {
		return ""
	}
	return c.Reason
}

// checkReasons checks after each quiet round that no object waits for more than patientRounds without a reason.
func (w *world) checkReasons() {
	_, untold := w.listReasons()
	if untold == "" {
		w.untold = 0
		return
	}
	if w.untold++; w.untold > patientRounds {
		w.violated("UNTOLD: no condition explains what %s waits for", untold)
	}
}

// endsReported checks that each wait of a settled world is for a node, a user or a person, and that a condition names that.
func (w *world) endsReported() string {
	reasons, _ := w.listReasons()
	if len(reasons) > 0 && !slices.ContainsFunc(reasons, func(r string) bool { return !slices.Contains(passing, r) }) {
		return fmt.Sprintf("UNTOLD: the world has settled, and its conditions name only what ends by itself: %q", reasons)
	}
	return ""
}
