package replicacontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const (
	// byVolume finds the objects of a volume.
	byVolume = "replicacontroller.volume"
	// byNode finds replicas and instance managers of a node.
	byNode = "replicacontroller.node"
	// byTrouble finds volumes that lack a place for a replica.
	byTrouble = "replicacontroller.unplaced"

	unplaced = "yes"
)

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&v1beta2.Engine{}, byVolume, func(obj client.Object) []string { return key(obj.(*v1beta2.Engine).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byVolume, func(obj client.Object) []string { return key(obj.(*v1beta2.Replica).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byNode, func(obj client.Object) []string { return key(obj.(*v1beta2.Replica).Spec.NodeID) }},
	{&v1beta2.InstanceManager{}, byNode, func(obj client.Object) []string { return key(obj.(*v1beta2.InstanceManager).Spec.NodeID) }},
	{&v1beta2.Volume{}, byTrouble, func(obj client.Object) []string {
		if conditions.IsFalse(obj.(*v1beta2.Volume).Status.Conditions, v1beta2.VolumeScheduled) {
			return key(unplaced)
		}
		return nil
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

func key(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}
