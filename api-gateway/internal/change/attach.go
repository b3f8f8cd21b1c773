package change

import (
	"cmp"
	"maps"
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
)

// AttachInput is a client's input to attach a volume. Interfaces write its keys with capital letters, which JSON does not distinguish.
type AttachInput struct {
	HostID          string `json:"hostId"`
	DisableFrontend bool   `json:"disableFrontend"`
	AttachedBy      string `json:"attachedBy"`
	AttacherType    string `json:"attacherType"`
	AttachmentID    string `json:"attachmentID"`
}

// DetachInput is a client's input to detach a volume.
type DetachInput struct {
	HostID       string `json:"hostId"`
	AttachmentID string `json:"attachmentID"`
	ForceDetach  bool   `json:"forceDetach"`
}

// NewTicket returns the ticket of a client, and whether it has to be written. A ticket that comes back gets a generation of its own, so
// that the answer to the earlier ticket is not taken for its answer.
func NewTicket(in AttachInput, va *v1beta2.VolumeAttachment) (*v1beta2.AttachmentTicket, bool) {
	t := &v1beta2.AttachmentTicket{ID: in.AttachmentID, Type: cmp.Or(in.AttacherType, v1beta2.AttacherLonghornAPI), NodeID: in.HostID,
		Generation: 1, Parameters: map[string]string{v1beta2.TicketDisableFrontend: strconv.FormatBool(in.DisableFrontend),
			v1beta2.TicketLastAttachedBy: in.AttachedBy}}
	if before, exists := va.Spec.AttachmentTickets[t.ID]; exists {
		if before.Type == t.Type && before.NodeID == t.NodeID && maps.Equal(before.Parameters, t.Parameters) {
			return t, false
		}
		t.Generation = before.Generation + 1
	} else if answered, known := va.Status.AttachmentTicketStatuses[t.ID]; known {
		t.Generation = answered.Generation + 1
	}
	return t, true
}

// RemovedTickets returns the tickets that a detachment removes, by their ids, without values: the client's ticket, or all tickets. It is
// empty if they are missing.
func RemovedTickets(in DetachInput, va *v1beta2.VolumeAttachment) map[string]*v1beta2.AttachmentTicket {
	out := map[string]*v1beta2.AttachmentTicket{}
	for id := range va.Spec.AttachmentTickets {
		if in.ForceDetach || id == in.AttachmentID {
			out[id] = nil
		}
	}
	return out
}
