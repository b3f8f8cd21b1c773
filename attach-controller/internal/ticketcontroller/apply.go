package ticketcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// apply does all changes in one write, of their keys and nothing else. A VolumeAttachment that is gone meanwhile is no error.
func apply(ctx context.Context, c client.Client, a *v1beta2.VolumeAttachment, changes []ticket.Change) error {
	tickets := map[string]*v1beta2.AttachmentTicket{}
	for _, change := range changes {
		tickets[change.ID] = change.Ticket
	}
	return client.IgnoreNotFound(status.MergeTickets(ctx, c, a, tickets))
}
