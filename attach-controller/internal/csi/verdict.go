package csi

import "drover.dev/drover/shared/api/v1beta2"

// Verdict is what shall be written for one VolumeAttachment, in this order; nothing: all is as it should be, or waits.
type Verdict struct {
	Steps []Step
	// Outcome is one word for the state that the attachment is in.
	Outcome Outcome
	// Confirm asks to decide once more on uncached reads, because the steps tell Kubernetes that the volume has left.
	Confirm bool
}

// Step is one write.
type Step struct {
	Kind StepKind
	// NodeID is the node id to be noted (StepMark).
	NodeID string
	// Volume is the Longhorn VolumeAttachment of a ticket step, Ticket the ticket of StepPutTicket.
	Volume string
	Ticket *v1beta2.AttachmentTicket
	// Status is the whole wanted status of StepStatus.
	Status *Status
}

// StepKind says what a Step writes.
type StepKind string

// The writes, in the order in which they follow each other.
const (
	// StepMark puts the finalizer and the node id on the VolumeAttachment.
	StepMark StepKind = "Mark"
	// StepHold puts the finalizer on the PersistentVolume.
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
	// OutcomeAttached: Kubernetes was told that the volume is attached.
	OutcomeAttached Outcome = "Attached"
	// OutcomeAttaching: the ticket is there, or about to be, and nothing stands in its way.
	OutcomeAttaching Outcome = "Attaching"
	// OutcomeRefused: attachError says why there is no ticket.
	OutcomeRefused Outcome = "Refused"
	// OutcomeHeldUp: attachError says why the ticket is not satisfied.
	OutcomeHeldUp Outcome = "HeldUp"
	// OutcomeDetaching: the ticket is gone, or about to be, and the volume leaves the node.
	OutcomeDetaching Outcome = "Detaching"
	// OutcomeStuck: detachError says why the volume does not leave.
	OutcomeStuck Outcome = "Stuck"
	// OutcomeDetached: the volume has left.
	OutcomeDetached Outcome = "Detached"
)
