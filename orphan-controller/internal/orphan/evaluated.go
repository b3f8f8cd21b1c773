package orphan

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// notEvaluated waits for im-monitor's evaluation. im-monitor creates an orphan and evaluates it in two writes; one that was
// deleted in between still gets its evaluation, and so does one that was deleted before either of the two ran. One that a person created
// and deleted ends after the evaluation wait.
func notEvaluated(w World) *ruleResult {
	rule := evaluation(w)
	switch {
	case !isInstance(w) && !isData(w):
		return waitForPeer(w, fmt.Sprintf("Orphans of type %q are not known to this version of orphan-controller; nothing is executed. "+
			"Update orphan-controller.", w.Orphan.Spec.OrphanType))
	case slices.Contains(evaluations, rule):
		return nil
	case rule != "":
		return waitForPeer(w, fmt.Sprintf("im-monitor found the instance orphaned by the rule %s, which this version of "+
			"orphan-controller does not know; nothing is executed. Update orphan-controller.", rule))
	case !deleting(w):
		return leaveAlone(w)
	}
	due := w.DeletionSeen.Add(w.Limits.EvaluationWait)
	r := &ruleResult{
		outcome: v1beta2.ReasonNotJudged, own: ownApproval, approval: v1beta2.ConditionFalse, reason: v1beta2.ReasonNotJudged,
		message: fmt.Sprintf("im-monitor has never evaluated this orphan, so nothing is executed. Unless it does by %s, the orphan ends.",
			due.UTC().Format(time.RFC3339)),
		event: EventHeld, requeueAt: due,
	}
	if !w.Now.Before(due) {
		r.finish, r.requeueAt, r.confirm = finishEnd, time.Time{}, true
	}
	return r
}

// leaveAlone is the ruleResult on an orphan that neither a person nor a policy deletes: this controller's conditions are removed.
func leaveAlone(World) *ruleResult { return &ruleResult{outcome: OutcomeStanding, own: ownCleared} }
