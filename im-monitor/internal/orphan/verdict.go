package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Decision is what was found about the instance itself.
type Decision string

// The decisions.
const (
	// Nothing means that the list is known and lacks the name.
	Nothing Decision = "Nothing"
	// Undecided means that nothing may be concluded; the reason reports why.
	Undecided Decision = "Undecided"
	// Claimed means that an object wants this runtime here.
	Claimed Decision = "Claimed"
	// Orphaned means that nothing wants this runtime here.
	Orphaned Decision = "Orphaned"
)

// Evaluation is the answer about the instance that has the key's name now.
type Evaluation struct {
	Decision Decision
	// Reason is one word: of the condition Orphaned, of the evaluation's non-decisions, or Claimed.
	Reason string
	// UUID and Source identify the orphaned instance; empty for every other decision.
	UUID   string
	Source UUIDSource
	// Message is a sentence for people.
	Message string
}

// Verdict is everything that follows from a World.
type Verdict struct {
	Evaluation Evaluation
	// Create is the Orphan of the instance that is missing, CreateData that of the data; nil when none is. Each must be confirmed by a
	// re-verification. Of a v2 replica without an object that does not run both exist: they are two wishes about one thing, and what one of
	// them brings about ends the other.
	Create, CreateData *Creation
	// Orphans has one entry for each Orphan of the World, in that order.
	Orphans []OrphanVerdict
	// ExpectAbsence is true when an orphan's instance is missing from the list and its absence is to be proven.
	ExpectAbsence bool
	// PollAt is when a list begun then or later could prove that a deleted orphan's replica is stopped; zero when no
	// such list is waited for.
	PollAt time.Time
}

// Creation is the Orphan to create, complete but for its namespace.
type Creation struct {
	Name       string
	Labels     map[string]string
	OrphanType string
	DataEngine string
	Node       string
	Parameters map[string]string
}

// OrphanVerdict is what one Orphan must report, and whether its instance may be deleted.
type OrphanVerdict struct {
	Name string
	// Conditions are all that im-monitor owns on it, complete. Their transition times are for the writer to fill.
	Conditions []v1beta2.Condition
	OwnerID    string
	// Withdrawn is the reason when this verdict withdraws the orphan, else "".
	Withdrawn string
	// Terminated is true when this verdict writes the evidence that the instance is gone or stopped.
	Terminated bool
	// Execute is true when the deletion was approved and the same instance is found orphaned again. DecideCall has
	// the last word.
	Execute bool
}
