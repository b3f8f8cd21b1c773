package csi

import (
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	attachment = "csi-1"
	uid        = "uid-1"
	here       = "node-1"
	there      = "node-2"
)

// asked is the world in which Kubernetes has just asked, nothing was written yet, and nothing stands in the way.
func asked() World {
	return World{
		Attachment:       Attachment{Name: attachment, UID: uid, HostName: here, PersistentVolume: "pv-1"},
		PersistentVolume: &PersistentVolume{Name: "pv-1", Driver: Driver, Handle: "vol-1"},
		DriverNodeID:     here,
		Host:             &Host{},
		Node:             &Node{},
		Volume: &Volume{
			Name: "vol-1", State: v1beta2.VolumeStateDetached, AccessMode: v1beta2.AccessModeReadWriteOnce, Frontend: frontendBlockDevice,
		},
		Tickets: &Tickets{Volume: "vol-1"},
	}
}

// ticketed is the world once the ticket exists and has no answer.
func ticketed() World {
	w := asked()
	w.Attachment.HasFinalizer, w.Attachment.NodeID, w.PersistentVolume.HasFinalizer = true, here, true
	w.Tickets.Wanted = map[string]v1beta2.AttachmentTicket{attachment: ownTicket(1)}
	return w
}

// satisfied is the world once the volume is attached and its ticket is satisfied.
func satisfied() World {
	w := ticketed()
	w.Tickets.Answers = answered(attachment, true, v1beta2.ReasonSatisfied, "")
	w.Volume.State, w.Volume.NodeID, w.Volume.CurrentNodeID = v1beta2.VolumeStateAttached, here, here
	return w
}

// attached is the world once status.attached is true.
func attached() World {
	w := satisfied()
	w.Attachment.Attached = true
	w.Attachment.Metadata = map[string]string{MetadataVolume: "vol-1", MetadataNode: here}
	return w
}

// deleted is the world in which Kubernetes has just asked to detach.
func deleted() World {
	w := attached()
	w.Attachment.Deleting = true
	return w
}

// unticketed is the world in which the ticket is gone and the volume still there.
func unticketed() World {
	w := deleted()
	w.Tickets.Wanted, w.Tickets.Answers = nil, nil
	return w
}

// vacated is the world in which the volume has left, too.
func vacated() World {
	w := unticketed()
	w.Volume.State, w.Volume.NodeID, w.Volume.CurrentNodeID = v1beta2.VolumeStateDetached, "", ""
	return w
}

func ownTicket(generation int64) v1beta2.AttachmentTicket {
	return v1beta2.AttachmentTicket{
		ID: attachment, Type: v1beta2.AttacherCSI, NodeID: here, Generation: generation,
		Parameters: map[string]string{
			"disableFrontend": "false", "lastAttachedBy": "csi-attacher",
			"ownerKind": "VolumeAttachment", "ownerName": attachment, "ownerUID": uid,
		},
	}
}

func answered(id string, satisfied bool, reason, message string) map[string]v1beta2.AttachmentTicketStatus {
	return map[string]v1beta2.AttachmentTicketStatus{id: {
		ID: id, Generation: 1, Satisfied: satisfied,
		Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Reason: reason, Message: message}},
	}}
}

// with returns the world after the changes.
func with(w World, changes ...func(*World)) World {
	for _, change := range changes {
		change(&w)
	}
	return w
}

func putStep(generation int64) Step {
	ticket := ownTicket(generation)
	return Step{Kind: StepPutTicket, Volume: "vol-1", Ticket: &ticket}
}

func statusStep(s Status) Step { return Step{Kind: StepStatus, Status: &s} }

// after is the world once the steps are done and nothing else has changed.
func after(w World, v Verdict) World {
	if w.PersistentVolume != nil {
		pv := *w.PersistentVolume
		w.PersistentVolume = &pv
	}
	if w.Tickets != nil {
		t := *w.Tickets
		t.Wanted = maps.Clone(t.Wanted)
		w.Tickets = &t
	}
	for _, step := range v.Steps {
		switch step.Kind {
		case StepMark:
			w.Attachment.HasFinalizer, w.Attachment.NodeID = true, step.NodeID
		case StepHold:
			w.PersistentVolume.HasFinalizer = true
		case StepPutTicket:
			if w.Tickets.Wanted == nil {
				w.Tickets.Wanted = map[string]v1beta2.AttachmentTicket{}
			}
			w.Tickets.Wanted[step.Ticket.ID], w.Tickets.Untouched = *step.Ticket, false
		case StepRemoveTicket:
			if w.Tickets != nil && w.Tickets.Volume == step.Volume {
				delete(w.Tickets.Wanted, w.Attachment.Name)
			} else {
				w.Strays = nil
			}
		case StepStatus:
			s := step.Status
			w.Attachment.Attached, w.Attachment.Metadata = s.Attached, s.Metadata
			w.Attachment.AttachError, w.Attachment.DetachError = s.AttachError, s.DetachError
		case StepRelease:
			w.Attachment.HasFinalizer = false
		}
	}
	return w
}
