package plan

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func (p *pass) condition(conditionType string, status v1beta2.ConditionStatus, reason, message string) {
	p.set[conditionType] = v1beta2.Condition{Type: conditionType, Status: status, Reason: reason, Message: message}
}

// conclude writes the conditions. A condition that this pass did not set stays, except those that are set in every state.
func (p *pass) conclude() {
	waits := p.status.State == v1beta2.UpgradeStateError && resumes(p.Manager)
	if !waits { // an upgrade that is to continue must not lose that while it is queued
		p.status.ObservedGeneration = p.Manager.Generation
	}
	if p.status.State == "" {
		p.to(v1beta2.UpgradeStateUndefined)
	}
	p.status.Step, p.status.Progress = p.status.UpgradeNodes[p.status.UpgradingNode].State, ""
	if planned := len(p.status.UpgradeNodes); planned > 0 {
		p.status.Progress = fmt.Sprintf("%d/%d", len(p.status.UpgradedNodes), planned)
	}
	if _, ok := p.set[v1beta2.UpgradeStalled]; !ok {
		p.condition(v1beta2.UpgradeStalled, v1beta2.ConditionFalse, v1beta2.ReasonInTime, "No step takes longer than its timeout.")
	}
	ended := p.status.State == v1beta2.UpgradeStateError || p.status.State == v1beta2.UpgradeStateCompleted
	if _, ok := p.set[v1beta2.UpgradeCompleted]; !ok && !ended {
		p.condition(v1beta2.UpgradeCompleted, v1beta2.ConditionFalse, v1beta2.ReasonUnfinished, "The upgrade continues.")
	}
	list := p.status.Conditions
	for _, conditionType := range []string{
		v1beta2.UpgradePreflight, v1beta2.UpgradeProgressing, v1beta2.UpgradeStalled, v1beta2.UpgradeCompleted,
	} {
		wanted, ok := p.set[conditionType]
		old := conditions.Get(list, conditionType)
		if ok && (old == nil || !conditions.Equal([]v1beta2.Condition{*old}, []v1beta2.Condition{wanted})) {
			list = conditions.Set(list, wanted, p.Now)
		}
	}
	p.status.Conditions = list
}
