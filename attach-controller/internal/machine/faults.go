package machine

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// faults finds whether the volume cannot continue: it is then detached, and the remaining replicas decide the next step.
type faults struct{ *draft }

func (x faults) decide() {
	switch {
	case x.faulted:
	case x.current != "" || x.state == v1beta2.VolumeStateAttaching:
		x.decideInUse()
	case x.state == v1beta2.VolumeStateDetached && x.allFailed():
		x.allReplicasFailed()
	}
}

func (x faults) decideInUse() {
	e, frontend := ofEngine(x.engine), ofFrontend(x.frontend)
	switch {
	case x.allFailed() && !x.servesData():
		x.allReplicasFailed()
	case x.engineRuns() && x.allDropped():
		x.fault(fmt.Sprintf("Engine %s on %s has dropped all its replicas.", x.engine.Name, e.node))
	case x.anotherEngineTakesOver():
	case e.failed():
		x.requestSalvage()
		x.fault(fmt.Sprintf("Engine %s on %s has failed.%s", x.engine.Name, e.node, NotStarted(x.engine.Status.Conditions)))
	case frontend.failed():
		x.fault(fmt.Sprintf("Frontend %s on %s has failed.%s", x.frontend.Name, frontend.node, NotStarted(x.frontend.Status.Conditions)))
	}
}

func (x faults) allReplicasFailed() {
	x.out.Fresh = true // the cache may not show yet how they were marked
	x.fault("All replicas have failed.")
}

// anotherEngineTakesOver reports whether a failed engine is replaced under the frontend.
func (f Facts) anotherEngineTakesOver() bool {
	return f.relocatedTargetFailed() || f.switchesToSecond() && ofEngine(f.engine).state == v1beta2.InstanceStateError
}

// fault makes the volume faulted.
func (d *draft) fault(why string) {
	d.faulted, d.faultReason = true, why
	d.emit(Event{Reason: EventFaulted, Warning: true, Note: why + " The volume is detached, and attached again from what is left."})
}

// requestSalvage requests a salvage if a v1 engine ended because it could use none of its replicas (v1beta2.ExitNoUsableReplica): all of
// them have errors, or their revision counters do not match, and the next engine takes the newest. They are not marked as failed: one of
// them may have the only data. If a salvaging engine is refused too, a user must act: the volume reports the engine's message.
func (x faults) requestSalvage() {
	c := conditions.Get(x.engine.Status.Conditions, v1beta2.InstanceCreation)
	if x.isV2() || !x.Settings.AutoSalvage || c == nil || c.Status != v1beta2.ConditionFalse ||
		!strings.Contains(c.Message, v1beta2.ExitNoUsableReplica) {
		return
	}
	for _, r := range x.Replicas {
		if x.engineMayUse(r.Name) && x.healthy(r) && !r.Spec.SalvageRequested {
			x.patch(StageMark, r, "salvageRequested", true)
		}
	}
}

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
