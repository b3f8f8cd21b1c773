package snapshot

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
	StepStatus        Step = "Status"
	StepDelete        Step = "Delete"
	StepDropFinalizer Step = "DropFinalizer"
)

// End is why the object goes.
type End string

// The ends.
const (
	EndNone       End = ""
	EndRemoved    End = "Removed"
	EndNeverTaken End = "NeverTaken"
	EndWithdrawn  End = "Withdrawn"
	EndVolumeGone End = "VolumeGone"
)

// Verdict is what to do now.
type Verdict struct {
	Step Step
	// Ticket is what StepTakeTicket writes.
	Ticket *v1beta2.AttachmentTicket
	// Status is what StepStatus writes: every field that is this controller's.
	Status v1beta2.SnapshotStatus
	// Holds reports whether it keeps, or wants, a place among the purges of its node.
	Holds bool
	// NeedsPlace reports whether the next decision depends on a place; ask for one and decide again.
	NeedsPlace bool
	// Confirm reports whether the volume's absence must be seen uncached before this is done.
	Confirm bool
	// Enqueue is when time alone changes the verdict; zero: never.
	Enqueue time.Time
	// End explains why the object goes, with StepDelete and StepDropFinalizer.
	End End
	// Reason and Message state what it is about, for the log and the events.
	Reason, Message string
}
