package removalcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

const byNode, byVolume = "removal-node", "removal-volume"

// indexes hold only Replicas that are being deleted, which are few.
var indexes = []kube.Index{
	kube.IndexBy(&v1beta2.Replica{}, byNode, func(r *v1beta2.Replica) string { return ifGoing(r, r.Spec.NodeID) }),
	kube.IndexBy(&v1beta2.Replica{}, byVolume, func(r *v1beta2.Replica) string { return ifGoing(r, r.Spec.VolumeName) }),
}

func ifGoing(r *v1beta2.Replica, key string) string {
	if going(r) {
		return key
	}
	return ""
}

// going reports whether a Replica is one of those that this package is about.
func going(r *v1beta2.Replica) bool { return r.DeletionTimestamp != nil }

// named are the names of the deleted replicas of a node or a volume.
func (r *reconciler) named(ctx context.Context, index, value string) []string {
	if value == "" {
		return nil
	}
	return r.mapper.Names(ctx, &v1beta2.ReplicaList{}, client.MatchingFields{index: value})
}
