package machine

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// revertRequest is the user's request, as <snapshot>@<time>; empty: nothing.
func (f Facts) revertRequest() string {
	at := f.Volume.Spec.RevertRequestedAt
	if _, err := time.Parse(time.RFC3339Nano, at); err != nil || f.Volume.Spec.RevertToSnapshot == "" {
		return ""
	}
	return f.Volume.Spec.RevertToSnapshot + "@" + at
}

// unreadableRevert explains that the user's request has no time; empty: it has one, or there is no request. The API server refuses such a
// time, but may have stored it before.
func (f Facts) unreadableRevert() string {
	s := f.Volume.Spec
	if s.RevertRequestedAt == "" || s.RevertToSnapshot == "" || f.revertRequest() != "" {
		return ""
	}
	return fmt.Sprintf("spec.revertRequestedAt %q is no RFC 3339 time, such as 2026-01-31T09:30:00Z: write another one.", s.RevertRequestedAt)
}

// revert passes the user's request to the engine, and reads the result. It happens only without writers, and a finished request is not
// repeated: if the volume is released before the engine answers, the engine gets no second request, for by then there may have been
// writes.
type revert struct{ *draft }

func (v revert) decide() {
	request, e := v.revertRequest(), v.engine
	if e == nil {
		return
	}
	asked := request != "" && e.Spec.RequestedRevert == request
	if request == "" || v.Volume.Status.LastRevert == request {
		v.withdraw()
		if unreadable := v.unreadableRevert(); unreadable != "" {
			v.setCondition(v1beta2.ReasonFailed, unreadable)
		}
		return
	}
	reason, message := v.revertBlocker()
	switch {
	case asked && e.Status.LastRevert == request && e.Status.LastRevertError == "":
		v.end(request, v1beta2.ReasonReverted, "The volume has the content of snapshot "+v.Volume.Spec.RevertToSnapshot+" again.")
	case asked && e.Status.LastRevert == request:
		v.end(request, v1beta2.ReasonFailed, "The engine did not revert to snapshot "+v.Volume.Spec.RevertToSnapshot+": "+
			e.Status.LastRevertError)
	case asked && reason == v1beta2.ReasonWaitingForMaintenance:
		v.end(request, v1beta2.ReasonFailed,
			"The volume was released before the engine answered: it may have reverted, or not. Ask again with another revertRequestedAt, "+
				"or leave it.")
	case asked:
		v.setCondition(v1beta2.ReasonReverting, "The engine is asked to revert to snapshot "+v.Volume.Spec.RevertToSnapshot+".")
	case reason != "":
		v.withdraw()
		v.setCondition(reason, message)
	default:
		v.patch(StageRun, e, "requestedRevert", request)
		v.setCondition(v1beta2.ReasonReverting, "The engine is asked to revert to snapshot "+v.Volume.Spec.RevertToSnapshot+".")
	}
}

// revertBlocker returns what blocks the revert now.
func (f Facts) revertBlocker() (reason, message string) {
	s := f.Volume.Status
	switch {
	case f.isV2():
		return v1beta2.ReasonUnsupported, "A v2 volume is not reverted: create a new one with spec.dataSource snap://" + f.Volume.Name + "/" +
			f.Volume.Spec.RevertToSnapshot + "."
	case f.Volume.Spec.MigrationNodeID != "" || s.CurrentMigrationNodeID != "":
		return v1beta2.ReasonMigrating, "The volume moves to another node; it is reverted when that is done."
	case f.state != v1beta2.VolumeStateAttached || !f.engineRuns() || !f.Volume.Spec.DisableFrontend || !s.FrontendDisabled ||
		f.Volume.Spec.NodeID != f.current:
		return v1beta2.ReasonWaitingForMaintenance,
			"It is reverted only without writers: have it attached by a ticket with disableFrontend \"true\" and no other."
	case s.RestoreRequired || s.CloneStatus.State == v1beta2.CloneInitiated:
		return v1beta2.ReasonWaitingForMaintenance, "The volume is still being filled with its data."
	}
	for _, mode := range f.engine.Status.ReplicaModeMap {
		if mode == v1beta2.ReplicaModeWO {
			return v1beta2.ReasonRebuilding, "A replica of the volume is being rebuilt; it is reverted when that is done."
		}
	}
	return "", ""
}

// withdraw withdraws the request from the engine.
func (v revert) withdraw() {
	if v.engine.Spec.RequestedRevert != "" {
		v.patch(StageRun, v.engine, "requestedRevert", "")
	}
}

func (v revert) end(request, reason, message string) {
	v.setStatus("lastRevert", v.Volume.Status.LastRevert, request)
	v.setCondition(reason, message)
	h := Event{Reason: EventReverted, Note: message}
	if reason != v1beta2.ReasonReverted {
		h = Event{Reason: EventRevertFailed, Warning: true, Note: message}
	}
	v.emit(h)
}

func (v revert) setCondition(reason, message string) {
	v.reverted = &v1beta2.Condition{Type: v1beta2.VolumeReverted, Status: v1beta2.ConditionFalse, Reason: reason, Message: message}
	if reason == v1beta2.ReasonReverted {
		v.reverted.Status = v1beta2.ConditionTrue
	}
}

// revertCondition puts the revert condition into a list; the result of a request stays until another request.
func (t status) revertCondition(list []v1beta2.Condition) []v1beta2.Condition {
	switch {
	case t.reverted != nil:
		return conditions.Set(list, *t.reverted, t.Now)
	case t.revertRequest() == "":
		return conditions.Remove(list, v1beta2.VolumeReverted)
	}
	return list
}
