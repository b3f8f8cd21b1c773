package machine

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// NotStarted returns im-monitor's reason against the start of an instance, as a sentence to append; empty if there is none.
func NotStarted(list []v1beta2.Condition) string {
	if c := conditions.Get(list, v1beta2.WaitForBackingImage); c != nil && c.Status == v1beta2.ConditionTrue {
		return " " + c.Message
	}
	if c := conditions.Get(list, v1beta2.InstanceCreation); c != nil && c.Status == v1beta2.ConditionFalse {
		return " " + c.Message
	}
	return ""
}

// refused requests a salvage if a v1 engine ended because it could use none of its replicas (v1beta2.ExitNoUsableReplica): all of them
// have errors, or their revision counters do not match, and the next engine takes the newest. They are not marked as failed: one of them
// may have the only data. If a salvaging engine is refused too, a user must act: the volume reports the engine's message.
func (p *pass) refused() {
	c := conditions.Get(p.engine.Status.Conditions, v1beta2.InstanceCreation)
	if p.isV2() || !p.Settings.AutoSalvage || c == nil || c.Status != v1beta2.ConditionFalse ||
		!strings.Contains(c.Message, v1beta2.ExitNoUsableReplica) {
		return
	}
	for _, r := range p.Replicas {
		if p.engineMayUse(r.Name) && p.healthy(r) && !r.Spec.SalvageRequested {
			p.patch(StageFail, r, "salvageRequested", true)
		}
	}
}
