package volumecontext

import (
	"context"
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// Nodes are those that the volume uses, by name: where it is to be attached, and those of its engine, which may be nil, and of its replicas
// in use. One that does not exist is left out.
func (r Reader) Nodes(ctx context.Context, v *v1beta2.Volume, e *v1beta2.Engine) ([]*v1beta2.Node, error) {
	names := []string{v.Spec.NodeID}
	if e != nil {
		names = append(names, e.Spec.NodeID)
	}
	var list v1beta2.ReplicaList
	if err := r.list(ctx, &list, kube.FieldVolume, v.Name); err != nil {
		return nil, fmt.Errorf("listing the replicas of volume %s: %w", v.Name, err)
	}
	for i := range list.Items {
		if InUse(&list.Items[i]) {
			names = append(names, list.Items[i].Spec.NodeID)
		}
	}
	slices.Sort(names)
	var out []*v1beta2.Node
	for _, name := range slices.Compact(names) {
		node, err := r.node(ctx, name)
		if err != nil {
			return nil, err
		}
		if node != nil {
			out = append(out, node)
		}
	}
	return out, nil
}

// InUse reports whether an engine may use the replica: one that is marked as failed leaves its engine before it stops.
func InUse(r *v1beta2.Replica) bool {
	return r.Spec.FailedAt == "" || r.Status.CurrentState == v1beta2.InstanceStateRunning
}
