package nodeupgrade

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// conclude writes the conditions and RequeueAt.
func (p *pass) conclude() {
	p.status.ObservedGeneration = p.Upgrade.Generation
	if p.further() {
		p.status.Furthest, p.status.ProgressedAt = p.done+p.gone, stamp(p.Now)
	}
	p.status.Volume, p.status.Progress = p.volume, p.progress()
	list := p.status.Conditions
	set := func(conditionType string, status v1beta2.ConditionStatus, reason, message string) {
		wanted := v1beta2.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
		if old := conditions.Get(list, conditionType); old == nil ||
			!conditions.Equal([]v1beta2.Condition{*old}, []v1beta2.Condition{wanted}) {
			list = conditions.Set(list, wanted, p.Now)
		}
	}
	if p.preflight != nil {
		set(v1beta2.UpgradePreflight, p.preflight.Status, p.preflight.Reason, p.preflight.Message)
	}
	progressing := p.progressing()
	set(v1beta2.UpgradeProgressing, progressing.Status, progressing.Reason, progressing.Message)
	if stalled := p.status.State == p.observed && p.late() && p.message != ""; stalled {
		set(v1beta2.UpgradeStalled, v1beta2.ConditionTrue, v1beta2.ReasonTimedOut,
			fmt.Sprintf("State %s has made no progress for %s. %s", p.observed, p.timeout(), progressing.Message))
	} else {
		set(v1beta2.UpgradeStalled, v1beta2.ConditionFalse, v1beta2.ReasonInTime, "No step takes longer than its timeout.")
	}
	switch p.status.State {
	case v1beta2.UpgradeStateCompleted:
		set(v1beta2.UpgradeCompleted, v1beta2.ConditionTrue, v1beta2.ReasonCompleted, p.completed())
	case v1beta2.UpgradeStateError:
		set(v1beta2.UpgradeCompleted, v1beta2.ConditionFalse, p.failure(), p.status.ErrorMessage)
	default:
		set(v1beta2.UpgradeCompleted, v1beta2.ConditionFalse, v1beta2.ReasonUnfinished, "The upgrade of the node continues.")
	}
	p.status.Conditions = list
	p.requeueAt()
}

// progress is how far the volumes are in the present step; while the instance manager is replaced it waits for that.
func (p *pass) progress() string {
	if p.all == 0 || p.status.State == v1beta2.UpgradeStateUpgradingInstanceManager && p.done == p.all {
		return ""
	}
	text := fmt.Sprintf("%d/%d", p.done, p.all)
	if p.status.State == v1beta2.UpgradeStateRebuildingReplica && p.volume != "" {
		text = fmt.Sprintf("%s %d%%", text, p.status.Volumes[p.volume].Progress)
	}
	return text
}

func (p *pass) completed() string {
	return fmt.Sprintf("Node %s runs the instance manager of %s.", p.nodeID(), p.target())
}

// withKept adds to a message which snapshots stay.
func (p *pass) withKept(message string) string {
	if p.verdict.Kept == "" {
		return message
	}
	return message + " " + p.verdict.Kept
}

// failure is the reason of the end in error.
func (p *pass) failure() string {
	reason := conditions.Reason(p.Upgrade.Status.Conditions, v1beta2.UpgradeCompleted)
	switch {
	case p.observed == v1beta2.UpgradeStateError && reason != "" && reason != v1beta2.ReasonUnfinished:
		return reason
	case p.endReason() != "":
		return v1beta2.ReasonAborted
	case p.preflight != nil && p.preflight.Status == v1beta2.ConditionFalse:
		return v1beta2.ReasonUpgradeBlocked
	}
	return v1beta2.ReasonNodeFailed
}

// holds are the reasons for which the upgrade does not continue by itself.
var holds = map[string]bool{
	v1beta2.ReasonWaitingForUpgrade: true, v1beta2.ReasonNotUnderstood: true, v1beta2.ReasonPaused: true,
	v1beta2.ReasonUpgradeBlocked: true,
}

// progressing returns what the upgrade waits for; a state that it has just entered waits for its first step.
func (p *pass) progressing() v1beta2.Condition {
	out := v1beta2.Condition{Status: v1beta2.ConditionTrue, Reason: p.reason, Message: p.message}
	switch {
	case p.status.State == v1beta2.UpgradeStateCompleted:
		return v1beta2.Condition{Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonCompleted, Message: p.withKept(p.completed())}
	case p.status.State == v1beta2.UpgradeStateError:
		return v1beta2.Condition{Status: v1beta2.ConditionFalse, Reason: p.failure(), Message: p.withKept(p.status.ErrorMessage)}
	case out.Reason == "":
		out.Reason = firstWaits[p.status.State]
		out.Message = fmt.Sprintf("Node %s is %s.", p.nodeID(), p.status.State)
	case holds[out.Reason]:
		out.Status = v1beta2.ConditionFalse
	case p.others > 0:
		out.Message = fmt.Sprintf("%s %d more wait.", out.Message, p.others)
	}
	return out
}

// firstWaits is the first thing that each state waits for.
var firstWaits = map[string]string{
	v1beta2.UpgradeStateUndefined:                v1beta2.ReasonTakingNode,
	v1beta2.UpgradeStateInitializing:             v1beta2.ReasonTakingNode,
	v1beta2.UpgradeStateSwitchingOver:            v1beta2.ReasonWaitingForTarget,
	v1beta2.UpgradeStateDetachingReplicas:        v1beta2.ReasonDetachingReplica,
	v1beta2.UpgradeStateUpgradingInstanceManager: v1beta2.ReasonWaitingForInstanceManager,
	v1beta2.UpgradeStateSwitchingBack:            v1beta2.ReasonWaitingForTarget,
	v1beta2.UpgradeStateRebuildingReplica:        v1beta2.ReasonWaitingForRebuild,
	v1beta2.UpgradeStateRollingBack:              v1beta2.ReasonWaitingForTarget,
}

// requeueAt is when the state times out. A state that was just entered is decided on again by the watch event of its write.
func (p *pass) requeueAt() {
	if p.status.State != p.observed {
		return
	}
	if len(p.verdict.ConfirmVolumes) > 0 {
		p.verdict.RequeueAt = p.Now
		return
	}
	if deadline := p.deadline(); !deadline.IsZero() && p.Now.Before(deadline) {
		p.verdict.RequeueAt = deadline
	}
}
