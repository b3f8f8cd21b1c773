package backup

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Step is the one write of a verdict.
type Step string

// The steps.
const (
	StepNone          Step = "None"
	StepRepair        Step = "Repair"
	StepTakeTicket    Step = "TakeTicket"
	StepDropTicket    Step = "DropTicket"
	StepSay           Step = "Say"
	StepDropFinalizer Step = "DropFinalizer"
	// StepMarkDeleting records that the data is about to be removed, StepRemove has it removed, and StepDelete deletes what failed long ago.
	StepMarkDeleting Step = "MarkDeleting"
	StepRemove       Step = "Remove"
	StepDelete       Step = "Delete"
)

// Verdict is what to do now.
type Verdict struct {
	Step Step
	// Ticket is what StepTakeTicket writes.
	Ticket *v1beta2.AttachmentTicket
	// Condition is what StepSay writes.
	Condition v1beta2.Condition
	// Stall is written with Condition while the engine reports no progress; nil: there is no such condition.
	Stall *v1beta2.Condition
	// Enqueue is when time alone changes the verdict; zero: never.
	Enqueue time.Time
	// Reason and Message state what it is about, for the log and the events.
	Reason, Message string
}
