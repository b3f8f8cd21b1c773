package attachcontroller

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The indexes; other parts of the binary have their own on the same kinds.
const (
	// byVolume finds engines, frontends and replicas of a volume.
	byVolume = "attachcontroller.volume"
	// byNode finds volumes that are, or are to be, on a node, and VolumeAttachments with a ticket for it.
	byNode = "attachcontroller.node"
)

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&v1beta2.Engine{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Engine).Spec.VolumeName) }},
	{&v1beta2.EngineFrontend{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.EngineFrontend).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.VolumeName) }},
	{&v1beta2.Volume{}, byNode, func(obj client.Object) []string {
		v := obj.(*v1beta2.Volume)
		return keys(v.Spec.NodeID, v.Spec.MigrationNodeID)
	}},
	{&v1beta2.VolumeAttachment{}, byNode, func(obj client.Object) []string {
		var nodes []string
		for _, t := range obj.(*v1beta2.VolumeAttachment).Spec.AttachmentTickets {
			nodes = append(nodes, t.NodeID)
		}
		return keys(nodes...)
	}},
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

// keys are the keys that are not empty, each once.
func keys(all ...string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(key string) bool { return key == "" })
}
