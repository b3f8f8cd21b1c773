package machine

import (
	"cmp"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/text"
)

// Events on a Volume.
const (
	EventAttached      = "Attached"
	EventDetached      = "Detached"
	EventDeletedInUse  = "DeletedInUse"
	EventFaulted       = "Faulted"
	EventSalvaged      = "AutoSalvaged"
	EventDegraded      = "Degraded"
	EventHealthy       = "Healthy"
	EventReplicaFailed = "ReplicaFailed"
	EventRebuilt       = "ReplicaRebuilt"
	EventStillGood     = "ReplicaStillGood"
	EventIOHeld        = "IOHeld"
	EventIOGoesOn      = "IOGoesOn"
	EventMigrated      = "Migrated"
	// EventMigrationFailed is emitted for each second engine of a migration that fails.
	EventMigrationFailed = "MigrationFailed"
	EventRestored        = "Restored"
	EventCloned          = "Cloned"
	EventCloneFailed     = "CloneFailed"
	EventCloneIsFull     = "CloneIsFullCopy"
	EventReverted        = "Reverted"
	EventRevertFailed    = "RevertFailed"
)

// status computes Volume.status.
type status struct{ *draft }

func (t status) decide() {
	s := t.Volume.Status
	t.setStatus("state", s.State, t.state)
	t.setStatus("currentNodeID", s.CurrentNodeID, t.current)
	t.setStatus("currentMigrationNodeID", s.CurrentMigrationNodeID, t.migration)
	target := ""
	if t.relocated() {
		target = t.engine.Spec.NodeID
	}
	t.setStatus("currentTargetNodeID", s.CurrentTargetNodeID, target)
	if t.Volume.Spec.MigrationNodeID == "" && t.migration == "" {
		t.setStatus("migrationFailure", s.MigrationFailure, (*v1beta2.MigrationFailure)(nil))
	}
	t.setStatus("capacity", s.Capacity, text.Bytes(t.Volume.Spec.Size))
	robustness := t.robustness()
	t.setStatus("robustness", s.Robustness, robustness)
	if robustness == v1beta2.VolumeRobustnessFaulted && s.Robustness != robustness {
		t.setStatus("faults", s.Faults, t.countFault())
	}
	if robustness == v1beta2.VolumeRobustnessDegraded && s.Robustness != robustness {
		t.setStatus("lastDegradedAt", s.LastDegradedAt, stamp(t.Now))
	}
	if arrived := t.state == v1beta2.VolumeStateAttached && s.State != t.state; arrived {
		t.setStatus("frontendDisabled", s.FrontendDisabled, t.Volume.Spec.DisableFrontend)
		// never empty: it shows that there is data
		t.setStatus("currentImage", s.CurrentImage, cmp.Or(t.image(), t.engine.Status.CurrentImage, t.engine.Status.InstanceManagerName))
	}
	if t.engine != nil && t.Volume.DeletionTimestamp == nil {
		wanted, has := v1beta2.SizeOf(t.Volume), t.engine.Status.CurrentSize
		t.setStatus("expansionRequired", s.ExpansionRequired, t.engine.Spec.VolumeSize < wanted || has > 0 && has < wanted)
	}
	t.out.Conditions = t.conditions(robustness)
	t.emitTransitions(robustness)
}

// robustness rates the safety of the data by what the running engine reports.
func (f Facts) robustness() string {
	if f.faulted {
		return v1beta2.VolumeRobustnessFaulted
	}
	if f.state != v1beta2.VolumeStateAttached || !f.engineRuns() {
		return v1beta2.VolumeRobustnessUnknown
	}
	usable, reported := 0, 0
	for _, r := range f.Replicas {
		switch mode := f.mode(r.Name); {
		case mode == v1beta2.ReplicaModeRW && !f.failed[r.Name] && r.Spec.FailedAt == "":
			usable++
			reported++
		case mode != "":
			reported++
		}
	}
	switch {
	case reported == 0:
		return v1beta2.VolumeRobustnessUnknown
	case usable >= f.Volume.Spec.NumberOfReplicas:
		return v1beta2.VolumeRobustnessHealthy
	}
	return v1beta2.VolumeRobustnessDegraded
}

// owned are the conditions of a Volume that this package writes.
var owned = []string{v1beta2.VolumeAttached, v1beta2.VolumeFaulted, v1beta2.VolumeReverted, v1beta2.VolumeExpanded}

// Owned filters a list for the conditions that this package writes.
func Owned(list []v1beta2.Condition) []v1beta2.Condition { return conditions.Owned(list, owned...) }

// conditions report where the volume is, and why it is not where it is wanted.
func (t status) conditions(robustness string) []v1beta2.Condition {
	list := t.expansionCondition(t.revertCondition(Owned(t.Volume.Status.Conditions)))
	list = conditions.Set(list, t.attachedCondition(), t.Now)
	faulted := v1beta2.Condition{Type: v1beta2.VolumeFaulted, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonUsable}
	if robustness == v1beta2.VolumeRobustnessFaulted {
		faulted.Status, faulted.Reason, faulted.Message = v1beta2.ConditionTrue, v1beta2.ReasonFaulted, t.faultReason
		if before := conditions.Get(list, v1beta2.VolumeFaulted); faulted.Message == "" && before != nil &&
			before.Status == v1beta2.ConditionTrue {
			faulted.Message = before.Message
		}
	}
	return conditions.Set(list, faulted, t.Now)
}

func (t status) attachedCondition() v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse, Reason: t.waitingFor.reason,
		Message: t.waitingFor.message}
	switch {
	case t.state == v1beta2.VolumeStateAttached && t.current != "":
		c.Status, c.Reason, c.Message = v1beta2.ConditionTrue, v1beta2.ReasonAttached, v1beta2.AttachedTo(t.current)
		if going := t.deletedInUse(); going != "" {
			c.Reason = v1beta2.ReasonDeletedInUse
			c.Message += " " + going + " is being deleted, but is in use: it stays until the volume is detached, and is then created again."
		}
		if t.waitingFor.message != "" {
			c.Message += " " + t.waitingFor.message
		}
	case c.Reason != "":
	case t.state == v1beta2.VolumeStateDetached:
		c.Reason, c.Message = v1beta2.ReasonDetached, "No ticket wants the volume attached."
	case t.state == v1beta2.VolumeStateDeleting:
		c.Reason, c.Message = v1beta2.ReasonVolumeDeleting, "The volume is being deleted."
	default:
		c.Reason, c.Message = v1beta2.ReasonDetaching, fmt.Sprintf("The volume is %s.", t.state)
	}
	return c
}

// deletedInUse returns the object of an attached volume that was deleted while in use; "" if there is none.
func (f Facts) deletedInUse() string {
	switch {
	case f.engine != nil && f.engine.DeletionTimestamp != nil:
		return "Engine " + f.engine.Name
	case f.frontend != nil && f.frontend.DeletionTimestamp != nil:
		return "Frontend " + f.frontend.Name
	}
	return ""
}

// emitTransitions adds the events of what changed.
func (t status) emitTransitions(robustness string) {
	s := t.Volume.Status
	switch {
	case t.state == v1beta2.VolumeStateAttached && s.State != t.state:
		t.emit(Event{Reason: EventAttached, Note: "The volume is attached to " + t.current + "."})
	case t.state == v1beta2.VolumeStateDetached && s.State == v1beta2.VolumeStateDetaching:
		t.emit(Event{Reason: EventDetached, Note: "The volume is detached."})
	}
	if going := t.deletedInUse(); going != "" && t.state == v1beta2.VolumeStateAttached &&
		conditions.Reason(s.Conditions, v1beta2.VolumeAttached) != v1beta2.ReasonDeletedInUse {
		t.emit(Event{Reason: EventDeletedInUse, Warning: true, Note: going +
			" is being deleted, but is in use: it stays until the volume is detached, and is then created again."})
	}
	switch {
	case robustness == v1beta2.VolumeRobustnessDegraded && s.Robustness != robustness:
		t.emit(Event{Reason: EventDegraded, Warning: true, Note: "The volume has fewer healthy replicas than it should have."})
	case robustness == v1beta2.VolumeRobustnessHealthy && s.Robustness == v1beta2.VolumeRobustnessDegraded:
		t.emit(Event{Reason: EventHealthy, Note: "All replicas are healthy again."})
	}
}
