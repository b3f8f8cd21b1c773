package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Step is the one write of a verdict. Each carries the UID and resourceVersion of the orphan that was judged.
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
	// OutcomeStanding surfaces while nobody wants the orphan gone.
	OutcomeStanding = "Standing"
	// OutcomeWithdrawn surfaces when im-monitor took the orphan back.
	OutcomeWithdrawn = "Withdrawn"
	// OutcomeTerminated surfaces when the instance's end is proven.
	OutcomeTerminated = "Terminated"
	// OutcomeReleased surfaces when the orphan is being deleted and our finalizer is gone.
	OutcomeReleased = "Released"
	// OutcomeUnknown surfaces when a neighbour said something that this version does not know: wait.
	OutcomeUnknown = "Unknown"
)

// Announcement names the event that a step deserves once it is done.
type Announcement string

// The announcements.
const (
	AnnounceNothing Announcement = ""
	// AnnounceApproved: the cleanup was approved.
	AnnounceApproved Announcement = "approved"
	// AnnounceHeld: the cleanup is held back, or its approval was taken back.
	AnnounceHeld Announcement = "held"
	// AnnounceWouldDelete: policy would have deleted it, but this is a dry run.
	AnnounceWouldDelete Announcement = "would-delete"
	// AnnounceDeleted: policy deleted the orphan.
	AnnounceDeleted Announcement = "deleted"
	// AnnounceWithdrawn: an orphan that im-monitor took back was deleted.
	AnnounceWithdrawn Announcement = "withdrawn"
	// AnnounceEnded: the orphan ends without its instance having been deleted.
	AnnounceEnded Announcement = "ended"
	// AnnounceCleaned: the instance is gone, and so is the orphan.
	AnnounceCleaned Announcement = "cleaned"
)

// Verdict is what shall become of the orphan.
type Verdict struct {
	Step Step
	// Conditions is the full set of conditions of this controller, ordered by type.
	Conditions []v1beta2.Condition
	// Confirm asks to decide again on reads that bypass the cache, and to take that verdict's step instead.
	Confirm bool
	// WakeAt is when to decide again although nothing changed; zero: not before something changes.
	WakeAt time.Time
	// Outcome is the verdict in one word, Message in a sentence.
	Outcome, Message string
	Announce         Announcement
}
