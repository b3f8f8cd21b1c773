package machine

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// NotStarted is what im-monitor says against the start of an instance, as a sentence behind another one; empty where it says nothing.
func NotStarted(list []v1beta2.Condition) string {
	if c := conditions.Get(list, v1beta2.WaitForBackingImage); c != nil && c.Status == v1beta2.ConditionTrue {
		return " " + c.Message
	}
	if c := conditions.Get(list, v1beta2.InstanceCreation); c != nil && c.Status == v1beta2.ConditionFalse {
		return " " + c.Message
	}
	return ""
}

// refused asks for a salvage where a v1 engine ended because it could use none of its replicas (v1beta2.ExitNoUsableReplica): all of them
// have errors, or their counters do not fit, and the next engine takes what is newest. They are not marked as failed: one of them may have
// the only data. One that was opened that way before, and is refused all the same, needs a person: the volume says what its engine said.
func (p *pass) refused() {
	c := conditions.Get(p.engine.Status.Conditions, v1beta2.InstanceCreation)
	if p.isV2() || !p.Settings.AutoSalvage || c == nil || c.Status != v1beta2.ConditionFalse ||
		!strings.Contains(c.Message, v1beta2.ExitNoUsableReplica) {
		return
	}
	for _, r := range p.Replicas {
		if p.ordered(r.Name) && p.healthy(r) && !r.Spec.SalvageRequested {
			p.patch(StageFail, r, "salvageRequested", true)
		}
	}
}
