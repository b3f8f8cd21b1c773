package present

import (
	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// Attachment is a ticket with the answer to it.
type Attachment struct {
	AttachmentID   string            `json:"attachmentID"`
	AttachmentType string            `json:"attachmentType"`
	NodeID         string            `json:"nodeID"`
	Parameters     map[string]string `json:"parameters"`
	Satisfied      bool              `json:"satisfied"`
	Conditions     []Condition       `json:"conditions"`
}

// NestedAttachment is the attachment of a volume inside the volume.
type NestedAttachment struct {
	wire.Nested
	ID          string                `json:"id"`
	Volume      string                `json:"volume"`
	Attachments map[string]Attachment `json:"attachments"`
}

// VolumeAttachment is the attachment of a volume as a resource of its own.
type VolumeAttachment struct {
	wire.Meta
	Volume      string                `json:"volume"`
	Attachments map[string]Attachment `json:"attachments"`
}

// newNestedAttachment returns the tickets of a volume. The answer to an older generation of a ticket is no answer: CSI would take a
// volume for attached although it is elsewhere.
func newNestedAttachment(volume string, va *v1beta2.VolumeAttachment) *NestedAttachment {
	return &NestedAttachment{ID: volume, Volume: volume, Attachments: newAttachments(va, true)}
}

// NewVolumeAttachment returns the tickets of a volume as a resource of its own.
func NewVolumeAttachment(base string, va *v1beta2.VolumeAttachment) VolumeAttachment {
	return VolumeAttachment{Meta: wire.NewMeta(base, wire.TypeVolumeAttachment, va.Name), Volume: va.Spec.Volume,
		Attachments: newAttachments(va, false)}
}

func newAttachments(va *v1beta2.VolumeAttachment, ofSameGeneration bool) map[string]Attachment {
	out := map[string]Attachment{}
	if va == nil {
		return out
	}
	for id, ticket := range va.Spec.AttachmentTickets {
		status, answered := va.Status.AttachmentTicketStatuses[id]
		a := Attachment{AttachmentID: id, AttachmentType: ticket.Type, NodeID: ticket.NodeID, Parameters: table(ticket.Parameters),
			Conditions: []Condition{}}
		if answered {
			a.Satisfied = status.Satisfied && (!ofSameGeneration || status.Generation == ticket.Generation)
			a.Conditions = conditionList(status.Conditions)
		}
		out[id] = a
	}
	return out
}
