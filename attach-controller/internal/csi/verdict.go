package csi

import "drover.dev/drover/shared/api/v1beta2"

// Verdict lists what to write for one VolumeAttachment, in this order; nothing: the state is the wanted one, or waits.
type Verdict struct {
	Steps []Step
	// Outcome is the state of the attachment in one word.
	Outcome Outcome
	// Confirm requests a second decision on uncached reads, because the steps report to Kubernetes that the volume has left.
	Confirm bool
}

// Step is one write.
type Step struct {
	Kind StepKind
	// NodeID is the node id to be recorded (StepMark).
	NodeID string
	// Volume is the Longhorn VolumeAttachment of a ticket step, Ticket the ticket of StepPutTicket.
	Volume string
	Ticket *v1beta2.AttachmentTicket
	// Status is the whole wanted status of StepStatus.
	Status *Status
}

// StepKind is what a Step writes.
type StepKind string

// The writes, in their order.
const (
	// StepMark adds the finalizer and the node id to the VolumeAttachment.
	StepMark StepKind = "Mark"
	// StepHold adds the finalizer to the PersistentVolume.
	StepHold StepKind = "Hold"
	// StepPutTicket writes the ticket into the Longhorn VolumeAttachment, StepRemoveTicket removes it.
	StepPutTicket    StepKind = "PutTicket"
	StepRemoveTicket StepKind = "RemoveTicket"
	// StepStatus writes the VolumeAttachment's status.
	StepStatus StepKind = "Status"
	// StepRelease drops the VolumeAttachment's finalizer.
	StepRelease StepKind = "Release"
)

// Status is that of a VolumeAttachment. The time of an error is that of its text's last change.
type Status struct {
	Attached                 bool
	Metadata                 map[string]string
	AttachError, DetachError string
}

// Outcome is the state that a VolumeAttachment is in.
type Outcome string

// The outcomes.
const (
	// OutcomeAttached: status.attached is true.
	OutcomeAttached Outcome = "Attached"
	// OutcomeAttaching: the ticket exists, or is about to, and nothing blocks it.
	OutcomeAttaching Outcome = "Attaching"
	// OutcomeRefused: attachError shows why there is no ticket.
	OutcomeRefused Outcome = "Refused"
	// OutcomeHeldUp: attachError shows why the ticket is not satisfied.
	OutcomeHeldUp Outcome = "HeldUp"
	// OutcomeDetaching: the ticket is removed, or about to be, and the volume leaves the node.
	OutcomeDetaching Outcome = "Detaching"
	// OutcomeStuck: detachError shows why the volume does not leave.
	OutcomeStuck Outcome = "Stuck"
	// OutcomeDetached: the volume has left.
	OutcomeDetached Outcome = "Detached"
)
