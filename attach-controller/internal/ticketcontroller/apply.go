package ticketcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// apply does all changes in one write, of their keys and nothing else. A VolumeAttachment that is gone meanwhile is fine.
func apply(ctx context.Context, c client.Client, a *v1beta2.VolumeAttachment, changes []ticket.Change) error {
	tickets := map[string]any{}
	for _, change := range changes {
		tickets[change.ID] = field(change.Ticket)
	}
	return client.IgnoreNotFound(status.MergeSpec(ctx, c, a, map[string]any{"attachmentTickets": tickets}))
}

// field is a ticket in a merge patch; nil removes it. Every field is named, so that an empty one is emptied.
func field(t *v1beta2.AttachmentTicket) any {
	if t == nil {
		return nil
	}
	return map[string]any{
		"id": t.ID, "type": t.Type, "nodeID": t.NodeID, "parameters": t.Parameters, "generation": t.Generation,
	}
}
