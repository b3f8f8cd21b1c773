package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// rule checks one thing. It returns nil if it does not apply.
type rule func(World) *ruleResult

// ruleResult is what a rule wants: which conditions, and what to do once they are stored.
type ruleResult struct {
	outcome, message string
	own              own
	approval         v1beta2.ConditionStatus // of CleanupApproved, where own is ownApproval
	reason           string                  // of CleanupApproved
	deletionReason   string                  // "" keeps what is there while deleting, and has none while standing
	finish           finish
	event            EventKind
	confirm          bool
	requeueAt        time.Time
}

// own is what happens to this controller's conditions.
type own int

const (
	ownKept     own = iota // as they are
	ownCleared             // none
	ownApproval            // CleanupApproved, and DeletionReason
)

// finish is what follows once the conditions are stored.
type finish int

const (
	finishNothing finish = iota
	finishEnd            // standing: delete; deleting: drop the finalizer
)

// always are the rules that hold whether or not the orphan is being deleted. The first that applies wins.
var always = []rule{
	released,            // deleting without our finalizer: others hold it
	withdrawn,           // nothing to execute, final
	terminated,          // deleting, and the instance's end is proven
	concluded,           // deleting, and an end without execution is stored: it stays stored
	nodeGone,            // its node is down or deleted
	replicaData,         // an orphaned directory has no data path
	instanceManagerGone, // what runs in no instance manager cannot be deleted through one
	notEvaluated,        // im-monitor has not evaluated it
	notCleanable,        // im-monitor does not report that the data can be destroyed where it is
}

// whileDeleting are the rules of an instance that was found orphaned and whose orphan is being deleted.
var whileDeleting = []rule{
	// Where a policy deleted the orphan, a person may release it by an annotation; all but the first rule yield to that.
	claimed,         // a CR wants the instance: refused, whoever deleted the orphan
	premiseFallen,   // deleted by policy that is not wanted any more
	foreignData,     // deleted by policy, and the data came with its disk
	usedUnnamed,     // deleted by policy, and an engine uses a replica that has no object
	policyLastCopy,  // deleted by policy, and no other healthy copy is left
	approveDeletion, // a person's deletion, or a policy that still holds
}

// whileStanding are the rules of an instance that was found orphaned and whose orphan is not deleted yet.
var whileStanding = []rule{
	notWanted,      // no policy wants it gone
	claimed,        // a CR wants the instance: im-monitor will withdraw it
	foreignData,    // it came with its disk: only a person deletes it
	notAbandoned,   // no Engine or Replica (of data: no Volume or PersistentVolume) exists, and it is not recorded as abandoned
	usedUnnamed,    // an engine uses a replica that has no object: it may be this one
	gracePeriod,    // too young for automatic deletion
	policyLastCopy, // no other healthy copy
	flood,          // so many lost their CRs at once that the CRs may be missing
	dryRun,         // reported, not done
	rateLimited,    // others of the node first
	deleteByPolicy, // the reason first, then the deletion
}

// Decide returns the verdict on the orphan. It is total, deterministic and idempotent: once its step is done, deciding
// on the result asks for the next step or for none, never for the same one again.
func Decide(w World) Verdict {
	rules := [][]rule{always, whileStanding}
	if deleting(w) {
		rules[1] = whileDeleting
	}
	for _, list := range rules {
		for _, r := range list {
			if result := r(w); result != nil {
				return conclude(w, *result)
			}
		}
	}
	return conclude(w, ruleResult{outcome: OutcomeStanding})
}

// conclude converts a ruleResult to the next single write.
func conclude(w World, r ruleResult) Verdict {
	stored := ownConditions(w)
	v := Verdict{
		Conditions: wanted(w, r), RequeueAt: r.requeueAt, Outcome: r.outcome, Message: r.message,
	}
	switch {
	case !conditions.Equal(stored, v.Conditions):
		v.Step, v.Confirm = StepConditions, r.confirm
		if news(stored, v.Conditions) {
			v.Event = r.event
		}
	case r.finish == finishNothing:
	case deleting(w):
		v.Step, v.Event = StepDropFinalizer, endEvent(r)
	default:
		v.Step, v.Confirm, v.Event = StepDelete, true, endEvent(r)
	}
	return v
}

// wanted is the full set of this controller's conditions under the ruleResult.
func wanted(w World, r ruleResult) []v1beta2.Condition {
	stored := ownConditions(w)
	switch r.own {
	case ownKept:
		return stored
	case ownCleared:
		if deleting(w) {
			return conditions.Owned(stored, v1beta2.OrphanDeletionReason)
		}
		return nil
	}
	list := stored
	switch {
	case deleting(w): // the reason of a deletion never changes afterwards
	case r.deletionReason == "":
		list = conditions.Remove(list, v1beta2.OrphanDeletionReason)
	case !deletedByPolicy(w):
		list = conditions.Set(list, v1beta2.Condition{
			Type: v1beta2.OrphanDeletionReason, Status: v1beta2.ConditionTrue, Reason: r.deletionReason,
			Message: deletionMessage(w, r.deletionReason),
		}, w.Now)
	}
	approval := v1beta2.Condition{Type: v1beta2.OrphanCleanupApproved, Status: r.approval, Reason: r.reason, Message: r.message}
	if old := conditions.Get(stored, approval.Type); old != nil && old.Status == v1beta2.ConditionTrue && old.Status == approval.Status &&
		old.Reason == approval.Reason {
		// What is approved is in the spec. The message stays as it was given, so that nothing is written during the
		// execution.
		approval.Message = old.Message
	}
	return conditions.Owned(conditions.Set(list, approval, w.Now), ownTypes...)
}

// news reports whether storing the conditions changes the approval's status or reason, not only its message.
func news(stored, wanted []v1beta2.Condition) bool {
	before, after := conditions.Get(stored, v1beta2.OrphanCleanupApproved), conditions.Get(wanted, v1beta2.OrphanCleanupApproved)
	if after == nil {
		return false
	}
	return before == nil || before.Status != after.Status || before.Reason != after.Reason
}

func endEvent(r ruleResult) EventKind {
	switch r.outcome {
	case OutcomeWithdrawn:
		return EventWithdrawn
	case OutcomeTerminated:
		return EventCleaned
	case v1beta2.ReasonApproved:
		return EventDeleted
	}
	return EventEnded
}
