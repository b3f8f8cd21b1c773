package csisnapshot

import "time"

// Step is the one write of a verdict.
type Step string

// The steps.
const (
	StepNone Step = "None"
	// StepMark and StepUnmark put and remove the annotation BeingCreated.
	StepMark   Step = "Mark"
	StepUnmark Step = "Unmark"
	// StepCreateSnapshot and StepCreateBackup make what Content.Names names.
	StepCreateSnapshot Step = "CreateSnapshot"
	StepCreateBackup   Step = "CreateBackup"
	// StepStatus writes the whole status.
	StepStatus Step = "Status"
	// StepDeleteSnapshot and StepDeleteBackup delete what was evaluated.
	StepDeleteSnapshot Step = "DeleteSnapshot"
	StepDeleteBackup   Step = "DeleteBackup"
	// StepRelease drops the finalizer.
	StepRelease Step = "Release"
)

// Verdict is what to do now.
type Verdict struct {
	Step Step
	// Status is what StepStatus writes.
	Status Status
	// Outcome is one word for the state that the content is in.
	Outcome Outcome
	// Confirm asks to decide once more on uncached reads: what is concluded rests on something not being there.
	Confirm bool
	// RequeueAt is when to decide again although nothing happened; zero: never.
	RequeueAt time.Time
}

// Outcome is the state that a content is in.
type Outcome string

// The outcomes.
const (
	OutcomeForeign   Outcome = "Foreign"
	OutcomeReady     Outcome = "Ready"
	OutcomeTaking    Outcome = "Taking"
	OutcomeUploading Outcome = "Uploading"
	// OutcomeRefused: status.error states what stands against it; OutcomeFailed: what went wrong.
	OutcomeRefused  Outcome = "Refused"
	OutcomeFailed   Outcome = "Failed"
	OutcomeMissing  Outcome = "Missing"
	OutcomeDeleting Outcome = "Deleting"
	OutcomeGone     Outcome = "Gone"
)

// report makes the status what it must be.
func (w World) report(outcome Outcome, wanted Status) Verdict {
	v := Verdict{Step: StepStatus, Status: wanted, Outcome: outcome}
	if wanted == w.Content.Status {
		v.Step = StepNone
	}
	return v
}

// err keeps what the status reports about the snapshot and adds what is wrong.
func (w World) err(outcome Outcome, message string) Verdict {
	wanted := w.Content.Status
	wanted.Ready, wanted.Error = false, message
	return w.report(outcome, wanted)
}
