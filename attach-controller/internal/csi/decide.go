package csi

import (
	"maps"

	"drover.dev/drover/shared/text"
)

// Decide returns what to write for one VolumeAttachment of this driver.
func Decide(w World) Verdict {
	if w.Attachment.Deleting {
		return detach(w)
	}
	return attach(w)
}

// DecidePersistentVolume reports whether the finalizer of a PersistentVolume is dropped: it is being deleted and no VolumeAttachment
// refers to it.
func DecidePersistentVolume(pv PersistentVolume, attachments int) bool {
	return pv.Deleting && pv.HasFinalizer && attachments == 0
}

func attach(w World) Verdict {
	if refusal := refuse(w); refusal != "" {
		return refused(w, refusal)
	}
	steps := prepare(w)
	switch {
	case w.Attachment.Attached:
		return Verdict{Outcome: OutcomeAttached, Steps: steps}
	case len(steps) > 0 || noObjectYet(w):
		// The ticket's answer arrives as an event, and so does whatever delays it.
		return Verdict{Outcome: OutcomeAttaching, Steps: steps}
	}
	satisfied, why := answer(w)
	switch {
	case satisfied:
		return Verdict{Outcome: OutcomeAttached, Steps: status(w, Status{Attached: true, Metadata: metadata(w)})}
	case why != "":
		return Verdict{Outcome: OutcomeHeldUp, Steps: status(w, Status{AttachError: why})}
	}
	return Verdict{Outcome: OutcomeAttaching, Steps: status(w, Status{})}
}

// refused returns the verdict of a refusal. A reported attached=true stays until Kubernetes detaches, and an existing ticket stays, too.
func refused(w World, refusal string) Verdict {
	if w.Attachment.Attached {
		return Verdict{Outcome: OutcomeAttached}
	}
	outcome := OutcomeRefused
	if _, asked := w.ticket(); asked {
		outcome = OutcomeHeldUp
	}
	return Verdict{Outcome: outcome, Steps: status(w, Status{AttachError: refusal})}
}

// noObjectYet reports whether there is no object yet for the ticket: its owner creates it, and, for a volume that was attached before there
// were tickets, first adds the tickets of its present users.
func noObjectYet(w World) bool {
	return w.Tickets == nil || w.Tickets.Untouched && w.Volume.NodeID != ""
}

// prepare returns the steps that write the finalizers, the node id and the ticket, in this order.
func prepare(w World) []Step {
	if noObjectYet(w) {
		return nil
	}
	var steps []Step
	if id := w.NodeID(); !w.Attachment.HasFinalizer || w.Attachment.NodeID != id {
		steps = append(steps, Step{Kind: StepMark, NodeID: id})
	}
	if !w.PersistentVolume.HasFinalizer && !w.PersistentVolume.Deleting {
		steps = append(steps, Step{Kind: StepHold})
	}
	if wanted, differs := wantedTicket(w); differs {
		steps = append(steps, Step{Kind: StepPutTicket, Volume: w.Tickets.Volume, Ticket: &wanted})
	}
	return steps
}

func metadata(w World) map[string]string {
	return map[string]string{MetadataVolume: w.Volume.Name, MetadataNode: w.NodeID()}
}

// errorLimit is how many bytes the API server takes of an error.
const errorLimit = 1024

// status returns the step to the wanted status; none if it is stored already.
func status(w World, wanted Status) []Step {
	a := w.Attachment
	wanted.AttachError, wanted.DetachError = text.Truncate(wanted.AttachError, errorLimit), text.Truncate(wanted.DetachError, errorLimit)
	same := a.Attached == wanted.Attached && a.AttachError == wanted.AttachError && a.DetachError == wanted.DetachError &&
		maps.Equal(a.Metadata, wanted.Metadata)
	if same {
		return nil
	}
	return []Step{{Kind: StepStatus, Status: &wanted}}
}
