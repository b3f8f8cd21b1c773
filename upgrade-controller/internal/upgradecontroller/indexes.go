package upgradecontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/cluster"
)

// The indexes: what a node carries, and what belongs to a volume, without reading anything else.
const (
	byNode   = "node"
	byVolume = "volume"
	// byTarget is the node of engines that serve their volumes.
	byTarget = "target"
	// byName is the name of volumes; a list by it copies nothing. byFilling has one key: volumes that are being filled from another one.
	// byWork has one key, too: snapshots whose data is being removed, and backups that are being taken.
	byName    = "name"
	byFilling = "filling"
	byWork    = "work"
)

// filling is the one key of byFilling, underWay that of byWork.
const filling, underWay = "yes", "yes"

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, x := range []struct {
		of   client.Object
		name string
		keys func(client.Object) []string
	}{
		{&v1beta2.Volume{}, byNode, func(o client.Object) []string {
			v := o.(*v1beta2.Volume)
			if v.Spec.NodeID == v.Status.CurrentNodeID {
				return keys(v.Spec.NodeID)
			}
			return keys(v.Spec.NodeID, v.Status.CurrentNodeID)
		}},
		{&v1beta2.Volume{}, byName, func(o client.Object) []string { return keys(o.GetName()) }},
		{&v1beta2.Volume{}, byFilling, func(o client.Object) []string {
			if cluster.FilledFrom(o.(*v1beta2.Volume)) != "" {
				return keys(filling)
			}
			return nil
		}},
		{&v1beta2.Snapshot{}, byWork, func(o client.Object) []string {
			if cluster.Removing(o.(*v1beta2.Snapshot)) {
				return keys(underWay)
			}
			return nil
		}},
		{&v1beta2.Backup{}, byWork, func(o client.Object) []string {
			if v1beta2.IsBackupBegun(o.(*v1beta2.Backup)) {
				return keys(underWay)
			}
			return nil
		}},
		{&v1beta2.Engine{}, byNode, func(o client.Object) []string { return keys(o.(*v1beta2.Engine).Spec.NodeID) }},
		{&v1beta2.Engine{}, byVolume, func(o client.Object) []string { return keys(o.(*v1beta2.Engine).Spec.VolumeName) }},
		{&v1beta2.Engine{}, byTarget, func(o client.Object) []string {
			if e := o.(*v1beta2.Engine); serves(e) {
				return keys(e.Spec.NodeID)
			}
			return nil
		}},
		{&v1beta2.Replica{}, byNode, func(o client.Object) []string { return keys(o.(*v1beta2.Replica).Spec.NodeID) }},
		{&v1beta2.Replica{}, byVolume, func(o client.Object) []string { return keys(o.(*v1beta2.Replica).Spec.VolumeName) }},
	} {
		if err := indexer.IndexField(ctx, x.of, x.name, x.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", x.of, x.name, err)
		}
	}
	return nil
}

// serves reports whether an engine is its volume's, and runs.
func serves(e *v1beta2.Engine) bool {
	return e.Spec.DataEngine == v1beta2.DataEngineV2 && e.Spec.Active && e.DeletionTimestamp == nil &&
		e.Status.CurrentState == v1beta2.InstanceStateRunning
}

// keys leaves out what is empty.
func keys(values ...string) []string {
	var out []string
	for _, v := range values {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}
