package orphan

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// policyOf returns the reason for which policy deletes the orphan, "" if none does. Eviction comes first: it is
// requested for this node, and has no grace period.
func policyOf(w World) string {
	switch {
	case w.Node != nil && w.Node.Spec.EvictionRequested && !isData(w):
		return v1beta2.ReasonEviction
	case autoDeletion(w) == On:
		return v1beta2.ReasonAutoDeletion
	}
	return ""
}

// autoDeletion is the setting's value for orphans of this kind; item is its word for them.
func autoDeletion(w World) AutoDeletion {
	if isData(w) {
		return w.Settings.ReplicaData
	}
	return w.Settings.Instance
}

func item(w World) string {
	if isData(w) {
		return "replica-data"
	}
	return "instance"
}

// notWanted leaves an orphan alone that no policy deletes. One that was held back becomes acknowledged when a person
// turns auto deletion off. An unreadable setting was not turned off by a person, so no condition changes.
func notWanted(w World) *ruleResult {
	if policyOf(w) != "" {
		return nil
	}
	if autoDeletion(w) == Unreadable {
		if deletedByPolicy(w) {
			return leaveAlone(w)
		}
		return &ruleResult{outcome: OutcomeStanding,
			message: "The setting orphan-resource-auto-deletion cannot be read; nothing is deleted by it."}
	}
	if heldFor(w, v1beta2.ReasonFlood) || heldFor(w, v1beta2.ReasonLastCopy) || acknowledged(w) {
		return hold(v1beta2.ReasonAcknowledged, "Auto deletion is off. When it is turned on again, this orphan is not counted as part "+
			"of a flood any more; a last copy is still held.")
	}
	return leaveAlone(w)
}

// premiseFallen withdraws the approval of a policy deletion while no policy wants it. The reason of the deletion
// stays: a deletion cannot be undone, but the instance is left alone until the policy holds again, a CR claims it, or
// it ends by itself.
func premiseFallen(w World) *ruleResult {
	switch {
	case !onPolicyAlone(w):
		return nil
	case w.Limits.DryRun:
		return dryRun(w)
	case policyOf(w) != "":
		return nil
	case autoDeletion(w) == Unreadable:
		return hold(v1beta2.ReasonAcknowledged, "The orphan was deleted by policy, and now the setting orphan-resource-auto-deletion "+
			"cannot be read: its instance is left alone until the setting is repaired.")
	}
	return hold(v1beta2.ReasonAcknowledged, fmt.Sprintf(
		"The orphan was deleted by policy (%s), which no longer holds: its instance is left alone. Add the item %s to the setting "+
			"orphan-resource-auto-deletion to let it continue.",
		conditions.Reason(w.Orphan.Status.Conditions, v1beta2.OrphanDeletionReason), item(w)))
}

// gracePeriod waits until the orphan is old enough for auto deletion; eviction does not wait.
func gracePeriod(w World) *ruleResult {
	due := graceBegan(w).Add(w.Settings.GracePeriod)
	if policyOf(w) != v1beta2.ReasonAutoDeletion || !w.Now.Before(due) {
		return nil
	}
	return holdMarked(w, v1beta2.ReasonGracePeriod, fmt.Sprintf("Auto deletion follows at %s.", due.UTC().Format(time.RFC3339)), due)
}

// graceBegan returns when the grace period began: with the Orphan, or later, when a person gave it up. A person may err, and take that
// back.
func graceBegan(w World) time.Time {
	began := w.Orphan.CreationTimestamp.Time
	if at := v1beta2.GivenUpAt(w.Orphan); v1beta2.GivenUp(w.Orphan) && at.After(began) {
		return at
	}
	return began
}

// dryRun reports what policy would delete.
func dryRun(w World) *ruleResult {
	if !w.Limits.DryRun {
		return nil
	}
	r := hold(v1beta2.ReasonDryRun, fmt.Sprintf("Dry run: without --dry-run-auto-deletion this orphan, of instance %s, would be deleted "+
		"now.",
		nameOf(w)))
	r.event = EventWouldDelete
	return r
}

// rateLimited bounds the policy deletions of a node that are under way at once. An approved one is under way.
func rateLimited(w World) *ruleResult {
	if approvedNow(w) || w.InFlight < w.Limits.InFlightPerNode {
		return nil
	}
	return holdMarked(w, v1beta2.ReasonRateLimited, fmt.Sprintf(
		"%d deletions by policy are under way on node %s; this one follows.", w.Limits.InFlightPerNode, w.Orphan.Spec.NodeID), time.Time{})
}

// hold withholds the approval for a reason until something changes.
func hold(reason, message string) *ruleResult { return holdUntil(reason, message, time.Time{}) }

// holdUntil is a hold that requeues the orphan at its end.
func holdUntil(reason, message string, requeueAt time.Time) *ruleResult {
	return &ruleResult{
		outcome: reason, message: message, own: ownApproval, approval: v1beta2.ConditionFalse, reason: reason,
		event: EventHeld, requeueAt: requeueAt,
	}
}

// holdMarked is a hold that only takes time. It keeps the mark of an acknowledged orphan, which would otherwise be counted
// as part of the same flood again.
func holdMarked(w World, reason, message string, requeueAt time.Time) *ruleResult {
	r := holdUntil(reason, message, requeueAt)
	if acknowledged(w) {
		r.reason = v1beta2.ReasonAcknowledged
	}
	return r
}

func acknowledged(w World) bool { return heldFor(w, v1beta2.ReasonAcknowledged) }
