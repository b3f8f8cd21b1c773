package orphan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Decision is the result of the evaluation of the instance itself.
type Decision string

// The decisions.
const (
	// Nothing means that the list is known and lacks the name.
	Nothing Decision = "Nothing"
	// Undecided means that no conclusion is allowed; the reason reports why.
	Undecided Decision = "Undecided"
	// Claimed means that an object claims this runtime on this instance manager.
	Claimed Decision = "Claimed"
	// Orphaned means that no object claims this runtime on this instance manager.
	Orphaned Decision = "Orphaned"
)

// Evaluation is the result for the instance that has the key's name now.
type Evaluation struct {
	Decision Decision
	// Reason is a reason of the condition Orphaned or of an undecided evaluation, or Claimed.
	Reason string
	// UUID and Source identify the orphaned instance; empty for every other decision.
	UUID   string
	Source UUIDSource
	// Message is a sentence for users.
	Message string
}

// Verdict is everything that follows from a World.
type Verdict struct {
	Evaluation Evaluation
	// Create is the Orphan of the instance that is missing, CreateData that of the data; nil when none is. Each must be confirmed by a
	// re-verification. A stopped v2 replica without an object has both: they are two requests about the same data, and the execution of one
	// ends the other.
	Create, CreateData *Creation
	// Orphans has one entry for each Orphan of the World, in that order.
	Orphans []OrphanVerdict
	// ExpectAbsence is true when an orphan's instance is missing from the list and its absence is to be proven.
	ExpectAbsence bool
	// PollAt is when a list begun then or later could prove that a deleted orphan's replica is stopped; zero when no
	// such list is waited for.
	PollAt time.Time
}

// Creation is the Orphan to create, complete except for its namespace.
type Creation struct {
	Name       string
	Labels     map[string]string
	OrphanType string
	DataEngine string
	Node       string
	Parameters map[string]string
}

// OrphanVerdict is the status that one Orphan must have, and whether its instance may be deleted.
type OrphanVerdict struct {
	Name string
	// Conditions are all conditions that im-monitor owns on the Orphan. The writer sets their transition times.
	Conditions []v1beta2.Condition
	OwnerID    string
	// Withdrawn is the reason when this verdict withdraws the orphan, else "".
	Withdrawn string
	// Terminated is true when this verdict writes the evidence that the instance is gone or stopped.
	Terminated bool
	// Execute is true when the deletion was approved and the same instance is found orphaned again. DecideCall is
	// the last check.
	Execute bool
}
