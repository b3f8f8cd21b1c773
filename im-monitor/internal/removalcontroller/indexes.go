package removalcontroller

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// The indexes hold only v2 Replicas that are being deleted, which are few.
const (
	byNode   = "drover.removal.node"
	byVolume = "drover.removal.volume"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := errors.Join(
		indexer.IndexField(ctx, &v1beta2.Replica{}, byNode, indexed(func(r *v1beta2.Replica) string { return r.Spec.NodeID })),
		indexer.IndexField(ctx, &v1beta2.Replica{}, byVolume, indexed(func(r *v1beta2.Replica) string { return r.Spec.VolumeName })),
	)
	if err != nil {
		return fmt.Errorf("indexing for the removal of replicas: %w", err)
	}
	return nil
}

func indexed(field func(*v1beta2.Replica) string) client.IndexerFunc {
	return func(o client.Object) []string {
		r := o.(*v1beta2.Replica)
		if !going(r) || field(r) == "" {
			return nil
		}
		return []string{field(r)}
	}
}

// going reports whether a Replica is one of those that this package is about.
func going(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp != nil && r.Spec.DataEngine == v1beta2.DataEngineV2
}

// named are the names of the deleted replicas of a node or a volume.
func (r *reconciler) named(ctx context.Context, index, value string) []string {
	if value == "" {
		return nil
	}
	var list v1beta2.ReplicaList
	err := r.rt.Client.List(ctx, &list, client.InNamespace(r.rt.Namespace), client.MatchingFields{index: value},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		r.log.Error(err, "finding the replicas that are being deleted", "index", index, "value", value)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}
