package machinecontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// byVolume finds the objects of a volume.
	byVolume = "machinecontroller.volume"
	// byNode finds what is, or is to be, on a node.
	byNode = "machinecontroller.node"
	// bySource finds volumes that are cloned from another one.
	bySource = "machinecontroller.source"
	// byBackupVolume finds volumes that are filled from a volume in a backup target, and the BackupVolumes that describe it.
	byBackupVolume = "machinecontroller.backupVolume"
)

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&v1beta2.Engine{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Engine).Spec.VolumeName) }},
	{&v1beta2.EngineFrontend{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.EngineFrontend).Spec.VolumeName) }},
	{&v1beta2.Replica{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.VolumeName) }},
	{&v1beta2.Snapshot{}, byVolume, func(obj client.Object) []string { return keys(obj.(*v1beta2.Snapshot).Spec.Volume) }},
	{&v1beta2.Engine{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.Engine).Spec.NodeID) }},
	{&v1beta2.EngineFrontend{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.EngineFrontend).Spec.NodeID) }},
	{&v1beta2.Replica{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.NodeID) }},
	{&v1beta2.Volume{}, byNode, func(obj client.Object) []string {
		v := obj.(*v1beta2.Volume)
		return keys(v.Spec.NodeID, v.Spec.MigrationNodeID, v.Spec.TargetNodeID)
	}},
	{&v1beta2.Volume{}, byBackupVolume, func(obj client.Object) []string { return keys(remoteOf(obj.(*v1beta2.Volume))) }},
	{&v1beta2.BackupVolume{}, byBackupVolume, func(obj client.Object) []string { return keys(nameInTarget(obj.(*v1beta2.BackupVolume))) }},
	{&v1beta2.Volume{}, bySource, func(obj client.Object) []string { return keys(sourceOf(obj.(*v1beta2.Volume))) }},
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, i := range indexes {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func keys(all ...string) []string {
	var out []string
	for _, key := range all {
		if key != "" && (len(out) == 0 || out[0] != key) {
			out = append(out, key)
		}
	}
	return out
}
