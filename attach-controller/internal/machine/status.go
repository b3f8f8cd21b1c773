package machine

import (
	"cmp"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
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
	EventRestored      = "Restored"
	EventCloned        = "Cloned"
	EventCloneFailed   = "CloneFailed"
	EventReverted      = "Reverted"
	EventRevertFailed  = "RevertFailed"
)

// say adds an event of a status change; report adds an event of a patch of a replica.
func (p *pass) say(h Event) { p.out.Events = append(p.out.Events, h) }

func (p *pass) report(r *v1beta2.Replica, h Event) {
	w := p.writeTo(StageFail, r)
	w.Events = append(w.Events, h)
}

// set writes one key of the status if it changes.
func (p *pass) set(key string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	if p.out.Status == nil {
		p.out.Status = map[string]any{}
	}
	p.out.Status[key] = to
}

// status computes Volume.status.
func (p *pass) status() {
	s := p.Volume.Status
	p.set("state", s.State, p.state)
	p.set("currentNodeID", s.CurrentNodeID, p.current)
	p.set("currentMigrationNodeID", s.CurrentMigrationNodeID, p.migration)
	target := ""
	if p.relocated() {
		target = p.engine.Spec.NodeID
	}
	p.set("currentTargetNodeID", s.CurrentTargetNodeID, target)
	p.set("capacity", s.Capacity, resource.NewQuantity(p.Volume.Spec.Size, resource.BinarySI).String())
	robustness := p.robustness()
	p.set("robustness", s.Robustness, robustness)
	if robustness == v1beta2.VolumeRobustnessDegraded && s.Robustness != robustness {
		p.set("lastDegradedAt", s.LastDegradedAt, stamp(p.Now))
	}
	if arrived := p.state == v1beta2.VolumeStateAttached && s.State != p.state; arrived {
		p.set("frontendDisabled", s.FrontendDisabled, p.Volume.Spec.DisableFrontend)
		// never empty: it shows that there is data
		p.set("currentImage", s.CurrentImage, cmp.Or(p.image(), p.engine.Status.CurrentImage, p.engine.Status.InstanceManagerName))
	}
	if p.engine != nil && p.Volume.DeletionTimestamp == nil {
		wanted, has := v1beta2.SizeOf(p.Volume), p.engine.Status.CurrentSize
		p.set("expansionRequired", s.ExpansionRequired, p.engine.Spec.VolumeSize < wanted || has > 0 && has < wanted)
	}
	p.out.Conditions = p.conditions(robustness)
	p.transitions(robustness)
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
func (p *pass) conditions(robustness string) []v1beta2.Condition {
	list := p.expansionSaid(p.revertSaid(Owned(p.Volume.Status.Conditions)))
	list = conditions.Set(list, p.attachedCondition(), p.Now)
	faulted := v1beta2.Condition{Type: v1beta2.VolumeFaulted, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonUsable}
	if robustness == v1beta2.VolumeRobustnessFaulted {
		faulted.Status, faulted.Reason, faulted.Message = v1beta2.ConditionTrue, v1beta2.ReasonFaulted, p.because
		if before := conditions.Get(list, v1beta2.VolumeFaulted); faulted.Message == "" && before != nil &&
			before.Status == v1beta2.ConditionTrue {
			faulted.Message = before.Message
		}
	}
	return conditions.Set(list, faulted, p.Now)
}

func (p *pass) attachedCondition() v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse, Reason: p.why.reason, Message: p.why.message}
	switch {
	case p.state == v1beta2.VolumeStateAttached && p.current != "":
		c.Status, c.Reason, c.Message = v1beta2.ConditionTrue, v1beta2.ReasonAttached, "The volume is attached to "+p.current+"."
		if going := p.deletedInUse(); going != "" {
			c.Reason = v1beta2.ReasonDeletedInUse
			c.Message += " " + going + " is being deleted, but is in use: it stays until the volume is detached, and is then created again."
		}
		if p.why.message != "" {
			c.Message += " " + p.why.message
		}
	case c.Reason != "":
	case p.state == v1beta2.VolumeStateDetached:
		c.Reason, c.Message = v1beta2.ReasonDetached, "No ticket wants the volume attached."
	case p.state == v1beta2.VolumeStateDeleting:
		c.Reason, c.Message = v1beta2.ReasonVolumeDeleting, "The volume is being deleted."
	default:
		c.Reason, c.Message = v1beta2.ReasonDetaching, fmt.Sprintf("The volume is %s.", p.state)
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

// transitions adds the events of what changed.
func (p *pass) transitions(robustness string) {
	s := p.Volume.Status
	switch {
	case p.state == v1beta2.VolumeStateAttached && s.State != p.state:
		p.say(Event{Reason: EventAttached, Note: "The volume is attached to " + p.current + "."})
	case p.state == v1beta2.VolumeStateDetached && s.State == v1beta2.VolumeStateDetaching:
		p.say(Event{Reason: EventDetached, Note: "The volume is detached."})
	}
	if going := p.deletedInUse(); going != "" && p.state == v1beta2.VolumeStateAttached &&
		conditions.Reason(s.Conditions, v1beta2.VolumeAttached) != v1beta2.ReasonDeletedInUse {
		p.say(Event{Reason: EventDeletedInUse, Warning: true, Note: going +
			" is being deleted, but is in use: it stays until the volume is detached, and is then created again."})
	}
	switch {
	case robustness == v1beta2.VolumeRobustnessDegraded && s.Robustness != robustness:
		p.say(Event{Reason: EventDegraded, Warning: true, Note: "The volume has fewer healthy replicas than it should have."})
	case robustness == v1beta2.VolumeRobustnessHealthy && s.Robustness == v1beta2.VolumeRobustnessDegraded:
		p.say(Event{Reason: EventHealthy, Note: "All replicas are healthy again."})
	}
}
