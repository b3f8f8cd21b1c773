package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Step is the one write of a verdict. Each carries the UID and resourceVersion of the orphan that was evaluated.
type Step string

// The steps.
const (
	// StepNone: what is stored is what is wanted.
	StepNone Step = ""
	// StepConditions stores Conditions.
	StepConditions Step = "conditions"
	// StepDelete deletes the orphan.
	StepDelete Step = "delete"
	// StepDropFinalizer removes the finalizer of an orphan that is being deleted.
	StepDropFinalizer Step = "drop-finalizer"
)

// Outcome is the verdict in one word: a reason of CleanupApproved, or one of these.
const (
	// OutcomeStanding surfaces while neither a person nor a policy deletes the orphan.
	OutcomeStanding = "Standing"
	// OutcomeWithdrawn surfaces when im-monitor took the orphan back.
	OutcomeWithdrawn = "Withdrawn"
	// OutcomeTerminated surfaces when the instance's end is proven.
	OutcomeTerminated = "Terminated"
	// OutcomeReleased surfaces when the orphan is being deleted and our finalizer is gone.
	OutcomeReleased = "Released"
	// OutcomeUnknown surfaces when a peer controller wrote a reason that this version does not know: wait.
	OutcomeUnknown = "Unknown"
)

// EventKind names the event that is emitted once a step is done.
type EventKind string

// The kinds of events.
const (
	EventNone EventKind = ""
	// EventApproved: the cleanup was approved.
	EventApproved EventKind = "approved"
	// EventHeld: the cleanup is held back, or its approval was taken back.
	EventHeld EventKind = "held"
	// EventWouldDelete: policy would have deleted it, but this is a dry run.
	EventWouldDelete EventKind = "would-delete"
	// EventDeleted: policy deleted the orphan.
	EventDeleted EventKind = "deleted"
	// EventWithdrawn: an orphan that im-monitor took back was deleted.
	EventWithdrawn EventKind = "withdrawn"
	// EventEnded: the orphan ends without its instance having been deleted.
	EventEnded EventKind = "ended"
	// EventCleaned: the instance is gone, and so is the orphan.
	EventCleaned EventKind = "cleaned"
)

// Verdict is the decision about the orphan.
type Verdict struct {
	Step Step
	// Conditions is the full set of conditions of this controller, ordered by type.
	Conditions []v1beta2.Condition
	// Confirm requires another decision on uncached reads; the step of that verdict is taken instead.
	Confirm bool
	// RequeueAt is when to decide again although nothing changed; zero: not before something changes.
	RequeueAt time.Time
	// Outcome is the verdict in one word, Message in a sentence.
	Outcome, Message string
	Event            EventKind
}
