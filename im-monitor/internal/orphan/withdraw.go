package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// withdrawal returns the reason for which an orphan is withdrawn, or "". It applies to orphans that are being deleted, too,
// except that the absence of such an instance is evidence of the deletion, not a withdrawal.
func withdrawal(w World, j Evaluation, o Orphan) string {
	switch {
	case !namedExactly(w, o):
		return v1beta2.ReasonRenamed
	case undecidable(j):
		return ""
	case otherUUID(w, o):
		return v1beta2.ReasonUUIDMismatch
	case j.Decision == Claimed:
		return v1beta2.ReasonClaimed
	case o.Absent && j.Decision == Nothing && !o.Deleting:
		return v1beta2.ReasonInstanceGone
	}
	return ""
}

// namedExactly reports whether the orphan's name, node and data engine are those of the instance that it names. An older
// cluster left the UUID out; such an orphan is replaced, never executed.
func namedExactly(w World, o Orphan) bool {
	if o.UUID == "" || o.Name != v1beta2.OrphanName(o.InstanceName, o.UUID, o.InstanceManager, o.DataEngine) {
		return false
	}
	return w.Manager == nil || (o.DataEngine == w.dataEngine() && o.Node == w.Manager.Node)
}

// undecidable reports whether not even facts about the list may be used: the list is unknown, or its node is going away
// and the orphan's policy ends the orphan.
func undecidable(j Evaluation) bool {
	return j.Decision == Undecided && (j.Reason == v1beta2.ReasonInventoryUnknown || j.Reason == v1beta2.ReasonNodeDown)
}

// otherUUID reports whether another instance, with a known UUID, has the name.
func otherUUID(w World, o Orphan) bool {
	i := w.Inventory.Instance
	return i != nil && i.UUID != "" && i.UUID != o.UUID
}

// terminated reports whether the end of a deletion is proven: the instance is absent, or, where a Replica still claims
// the data of a v2 replica, its runtime is stopped in a list later than the deletion, no matter which controller stopped it.
func terminated(w World, j Evaluation, o Orphan) bool {
	if !o.Deleting || undecidable(j) {
		return false
	}
	if j.Decision == Nothing {
		return o.Absent
	}
	return stoppedWithData(w, o) && w.Inventory.Began.After(settledAt(w, o))
}

func stoppedWithData(w World, o Orphan) bool {
	if w.Inventory == nil || w.Inventory.Instance == nil || !w.isV2() || w.Replica == nil {
		return false
	}
	i := w.Inventory.Instance
	return i.Type == v1beta2.InstanceTypeReplica && i.State == v1beta2.InstanceStateStopped && i.UUID == o.UUID
}

// settledAt is the time after which a list proves that a replica was stopped: it must be later than the deletion, which is of the API
// server's clock and so not compared, but was before this process saw it; and of an epoch that has settled.
func settledAt(w World, o Orphan) time.Time {
	if settled := w.Inventory.EpochSince.Add(w.Rules.V2Settle); settled.After(o.DeletionSeen) {
		return settled
	}
	return o.DeletionSeen
}

// ended reports whether the status of an orphan is final: a withdrawal is final, and so is the evidence of its end.
func ended(o Orphan) bool {
	return conditions.IsTrue(o.Conditions, v1beta2.OrphanWithdrawn) || conditions.IsFalse(o.Conditions, v1beta2.OrphanInstanceState)
}

// Approved reports whether the orphan-controller allows the deletion of an orphan that has not ended. An approval for a
// reason that this version does not know means wait.
func Approved(o Orphan) bool {
	return o.Deleting && !ended(o) && conditions.IsTrue(o.Conditions, v1beta2.OrphanCleanupApproved) &&
		conditions.Reason(o.Conditions, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonApproved
}

// ByPolicy reports whether a controller alone, no person, requested the deletion.
func (o Orphan) ByPolicy() bool {
	return !o.ByHand && conditions.Get(o.Conditions, v1beta2.OrphanDeletionReason) != nil
}

// open reports whether the status of an orphan is not final after its verdict.
func open(o Orphan, v OrphanVerdict) bool {
	return !o.FencingDelayed && !ended(o) && v.Withdrawn == "" && !v.Terminated
}

// expectAbsence reports whether an orphan's instance is missing without a proof yet.
func expectAbsence(w World, v Verdict) bool {
	for i, o := range w.Orphans {
		if v.Evaluation.Decision == Nothing && open(o, v.Orphans[i]) {
			return true
		}
	}
	return false
}

// pollAt is when a newer list could prove that the replica of a deleted orphan is stopped.
func pollAt(w World, v Verdict) time.Time {
	var at time.Time
	for i, o := range w.Orphans {
		if !o.Deleting || undecidable(v.Evaluation) || !open(o, v.Orphans[i]) || !stoppedWithData(w, o) {
			continue
		}
		if when := settledAt(w, o).Add(time.Millisecond); at.IsZero() || when.Before(at) {
			at = when
		}
	}
	return at
}
