package ticketcontroller

import (
	"cmp"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

const (
	// byExported finds data sources by the volume that they are exported from.
	byExported = "ticketcontroller.exported"
	// byTicketNode finds VolumeAttachments with a ticket for a node.
	byTicketNode = "ticketcontroller.node"
	// bySource finds volumes that are filled from another one.
	bySource = "ticketcontroller.source"
	// byOwner finds VolumeAttachments with a ticket that ends with an object.
	byOwner = "ticketcontroller.owner"
)

// noNode is the key of tickets without a node; no node has this name.
const noNode = "/"

var indexes = []kube.Index{
	kube.ByVolume(&v1beta2.Engine{}),
	kube.ByVolume(&v1beta2.Replica{}),
	kube.ByNode(&v1beta2.Replica{}),
	kube.IndexBy(&v1beta2.BackingImageDataSource{}, byExported, ticket.ExportedVolume),
	kube.IndexBy(&v1beta2.Volume{}, bySource, ticket.SourceOf),
	kube.IndexByEach(&v1beta2.VolumeAttachment{}, byTicketNode, nodesOfTickets),
	kube.IndexByEach(&v1beta2.VolumeAttachment{}, byOwner, ownersOfTickets),
}

func nodesOfTickets(va *v1beta2.VolumeAttachment) []string {
	var out []string
	for _, t := range va.Spec.AttachmentTickets {
		out = append(out, cmp.Or(t.NodeID, noNode))
	}
	return out
}

func ownersOfTickets(va *v1beta2.VolumeAttachment) []string {
	var out []string
	for id, t := range va.Spec.AttachmentTickets {
		if owner, _, ok := ticket.OwnerOf(va.Name, id, t); ok {
			out = append(out, ownerKey(owner.Kind, owner.Name))
		}
	}
	return out
}

func ownerKey(kind, name string) string { return kind + "/" + name }
