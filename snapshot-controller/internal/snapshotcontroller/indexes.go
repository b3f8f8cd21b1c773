package snapshotcontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The indexes. Each maps an event to the snapshots that it is about, without reading anything else.
const (
	// byBusy finds those snapshots of a volume that are under way: to be taken, to be removed, or not seen.
	byBusy = "snapshotcontroller.busy"
	// byReason finds snapshots by why they wait.
	byReason = "snapshotcontroller.reason"
	// byApproved is the one key of snapshots whose removal is approved.
	byApproved = "snapshotcontroller.approved"
	// byNode finds engines and replicas on a node.
	byNode = "snapshotcontroller.node"
)

// yes is the key of indexes that have one.
const yes = "yes"

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	of := func(key func(*v1beta2.Snapshot) string) client.IndexerFunc {
		return func(obj client.Object) []string { return keys(key(obj.(*v1beta2.Snapshot))) }
	}
	for _, i := range []struct {
		of   client.Object
		name string
		keys client.IndexerFunc
	}{
		{&v1beta2.Snapshot{}, byBusy, of(func(s *v1beta2.Snapshot) string { return volumeIf(s, busy(s)) })},
		{&v1beta2.Snapshot{}, byReason, of(waitsFor)},
		{&v1beta2.Snapshot{}, byApproved, of(func(s *v1beta2.Snapshot) string {
			if s.DeletionTimestamp != nil && conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalApproved) {
				return yes
			}
			return ""
		})},
		{&v1beta2.Engine{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.Engine).Spec.NodeID) }},
		{&v1beta2.Replica{}, byNode, func(obj client.Object) []string { return keys(obj.(*v1beta2.Replica).Spec.NodeID) }},
	} {
		if err := indexer.IndexField(ctx, i.of, i.name, i.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", i.of, i.name, err)
		}
	}
	return nil
}

func keys(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}

func volumeIf(s *v1beta2.Snapshot, is bool) string {
	if is {
		return s.Spec.Volume
	}
	return ""
}

// busy reports whether what happens to the volume may matter to the snapshot.
func busy(s *v1beta2.Snapshot) bool {
	if s.DeletionTimestamp != nil || s.Status.CreationTime == "" {
		return true
	}
	reason := conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady)
	return reason != v1beta2.ReasonReady && reason != v1beta2.ReasonMarkedRemoved
}

// waitsFor is the reason of the condition that a setting can change.
func waitsFor(s *v1beta2.Snapshot) string {
	if s.DeletionTimestamp != nil {
		return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotRemovalApproved)
	}
	if reason := conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady); reason == v1beta2.ReasonLimitReached {
		return reason
	}
	return ""
}
