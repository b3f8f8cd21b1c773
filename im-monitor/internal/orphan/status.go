package orphan

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// OwnedConditions are the types of conditions that im-monitor writes on an Orphan.
func OwnedConditions() []string {
	return []string{v1beta2.OrphanOrphaned, v1beta2.OrphanInstanceState, v1beta2.OrphanDataCleanable, v1beta2.OrphanWithdrawn,
		v1beta2.OrphanCleanupFailed, v1beta2.OrphanError}
}

// evaluateOrphan composes the status of one Orphan.
func evaluateOrphan(w World, j Evaluation, o Orphan) OrphanVerdict {
	v := OrphanVerdict{Name: o.Name, OwnerID: o.OwnerID, Conditions: conditions.Owned(o.Conditions, OwnedConditions()...)}
	if ended(o) || o.FencingDelayed {
		return v
	}
	if w.Manager != nil {
		v.OwnerID = w.Manager.Node
	}
	v.Withdrawn = withdrawal(w, j, o)
	v.Terminated = v.Withdrawn == "" && terminated(w, j, o)
	v.Execute = v.Withdrawn == "" && !v.Terminated && Approved(o) && j.Decision == Orphaned && j.UUID == o.UUID
	v.say(orphanedCondition(j, o, v))
	v.say(instanceState(w, j, o, v))
	v.say(withdrawnCondition(w, o, v))
	v.reportFailure(o)
	return v
}

// say sets a condition; nil keeps the present one.
func (v *OrphanVerdict) say(c *v1beta2.Condition) {
	if c == nil {
		return
	}
	if old := conditions.Get(v.Conditions, c.Type); old != nil {
		c.LastProbeTime = old.LastProbeTime
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	v.Conditions = conditions.Owned(append(conditions.Remove(v.Conditions, c.Type), *c), OwnedConditions()...)
}

// reportFailure sets the condition of the last attempt's failure; a successful attempt, a withdrawal and a termination remove the
// condition.
func (v *OrphanVerdict) reportFailure(o Orphan) {
	switch {
	case v.Withdrawn != "" || v.Terminated || (o.Failure != nil && o.Failure.Reason == ""):
		v.Conditions = conditions.Remove(v.Conditions, v1beta2.OrphanCleanupFailed)
	case o.Failure != nil:
		v.say(&v1beta2.Condition{Type: v1beta2.OrphanCleanupFailed, Status: v1beta2.ConditionTrue, Reason: o.Failure.Reason,
			Message: o.Failure.Message})
	}
}

// orphanedCondition is True while the evaluation finds the instance orphaned, and False after the withdrawal; no decision changes
// nothing.
func orphanedCondition(j Evaluation, o Orphan, v OrphanVerdict) *v1beta2.Condition {
	if j.Decision == Orphaned && j.UUID == o.UUID && v.Withdrawn == "" {
		return &v1beta2.Condition{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: j.Reason, Message: j.Message}
	}
	old := conditions.Get(v.Conditions, v1beta2.OrphanOrphaned)
	if v.Withdrawn == "" || old == nil {
		return nil
	}
	old.Status, old.Message = v1beta2.ConditionFalse, fmt.Sprintf("Withdrawn: %s.", v.Withdrawn)
	return old
}

// instanceState is the runtime's state while this instance (by UUID) is listed, and terminated once its end is proven.
func instanceState(w World, j Evaluation, o Orphan, v OrphanVerdict) *v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionTrue}
	gone := v.Terminated || v.Withdrawn == v1beta2.ReasonInstanceGone || v.Withdrawn == v1beta2.ReasonUUIDMismatch
	switch {
	case v.Terminated && stoppedWithData(w, o):
		c.Message = fmt.Sprintf("The runtime of %s is stopped; its Replica exists and keeps the data.", o.InstanceName)
	case gone:
		c.Message = fmt.Sprintf("%s with UUID %s is not on %s any more.", o.InstanceName, o.UUID, o.InstanceManager)
	case j.Decision == Nothing && len(o.Unloaded) > 0:
		return waitsForDisk(o)
	case undecidable(j) || w.Inventory.Instance == nil || (w.Inventory.Instance.UUID != o.UUID && j.Reason != v1beta2.ReasonNoUUID):
		return nil
	default:
		c.Reason = w.Inventory.Instance.State
		c.Message = fmt.Sprintf("%s is listed as %s by %s.", o.InstanceName, c.Reason, o.InstanceManager) + waitsFor(j, o)
		return &c
	}
	c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated
	return &c
}

// waitsFor reports why the instance of an orphan that is being deleted stays, where no decision allows the call: the
// cause that the finalizer waits for must be visible (ALL-3).
func waitsFor(j Evaluation, o Orphan) string {
	if !o.Deleting || j.Decision != Undecided {
		return ""
	}
	return fmt.Sprintf(" It is not deleted now (%s): %s", j.Reason, j.Message)
}

// waitsForDisk keeps the state of the last list that had the replica, and reports why a list without it proves nothing.
func waitsForDisk(o Orphan) *v1beta2.Condition {
	c := conditions.Get(o.Conditions, v1beta2.OrphanInstanceState)
	if c == nil {
		return nil
	}
	out := *c
	out.Message = fmt.Sprintf("%s does not list %s, but it has not loaded disk %s of node %s, so the state of the replica is unknown. "+
		"Repair the disk, or remove it from the spec of that Node if it is lost.", o.InstanceManager, o.InstanceName,
		strings.Join(o.Unloaded, ", "), o.Node)
	return &out
}

// withdrawnCondition reports why the instance is not deleted.
func withdrawnCondition(w World, o Orphan, v OrphanVerdict) *v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.OrphanWithdrawn, Status: v1beta2.ConditionTrue, Reason: v.Withdrawn}
	switch v.Withdrawn {
	case "":
		return nil
	case v1beta2.ReasonInstanceGone:
		c.Message = fmt.Sprintf("%s disappeared from %s by itself; nothing is left to delete.", o.InstanceName, o.InstanceManager)
	case v1beta2.ReasonUUIDMismatch:
		c.Message = fmt.Sprintf("%s on %s has UUID %s now, not %q; this orphan never touches the new instance.",
			o.InstanceName, o.InstanceManager, w.Inventory.Instance.UUID, o.UUID)
	case v1beta2.ReasonClaimed:
		c.Message = fmt.Sprintf("%s is to run on %s again; it is not deleted.", o.InstanceName, o.InstanceManager)
	case v1beta2.ReasonRenamed:
		c.Message = fmt.Sprintf("The name of this orphan is not the one of %s with a UUID; if the instance is orphaned, another orphan "+
			"reports it.", o.InstanceName)
	}
	return &c
}
