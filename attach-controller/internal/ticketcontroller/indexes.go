package ticketcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

// The indexes; other parts of the binary have their own on the same kinds. Each maps an event to its volumes, without reading anything
// else.
const (
	// byVolume finds engines and replicas of a volume, and data sources that are exported from one.
	byVolume = "ticketcontroller.volume"
	// byNode finds replicas on a node, and VolumeAttachments with a ticket for it.
	byNode = "ticketcontroller.node"
	// bySource finds volumes that are filled from another one.
	bySource = "ticketcontroller.source"
	// byOwner finds VolumeAttachments with a ticket that ends with an object.
	byOwner = "ticketcontroller.owner"
)

// noNode is the key of tickets without a node; no node has this name.
const noNode = "/"

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&v1beta2.Engine{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Engine).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.NodeID) }},
	{&v1beta2.BackingImageDataSource{}, byVolume, func(obj client.Object) []string {
		return keys(ticket.ExportedVolume(obj.(*v1beta2.BackingImageDataSource)))
	}},
	{&v1beta2.Volume{}, bySource, func(obj client.Object) []string { return keys(ticket.SourceOf(obj.(*v1beta2.Volume))) }},
	{&v1beta2.VolumeAttachment{}, byNode, nodesOfTickets},
	{&v1beta2.VolumeAttachment{}, byOwner, ownersOfTickets},
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func nodesOfTickets(obj client.Object) []string {
	seen := map[string]bool{}
	var out []string
	for _, t := range obj.(*v1beta2.VolumeAttachment).Spec.AttachmentTickets {
		node := t.NodeID
		if node == "" {
			node = noNode
		}
		if !seen[node] {
			seen[node] = true
			out = append(out, node)
		}
	}
	return out
}

func ownersOfTickets(obj client.Object) []string {
	va := obj.(*v1beta2.VolumeAttachment)
	seen := map[string]bool{}
	var out []string
	for id, t := range va.Spec.AttachmentTickets {
		owner, _, ok := ticket.OwnerOf(va.Name, id, t)
		if key := ownerKey(owner.Kind, owner.Name); ok && !seen[key] {
			seen[key] = true
			out = append(out, key)
		}
	}
	return out
}

func ownerKey(kind, name string) string { return kind + "/" + name }

func keys(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}
