package volumecontext

import (
	"context"
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Candidate is the node to which the volume is attached for work on its snapshots: where it is wanted anyhow; else held, where a ticket has
// it already; else the first by name that has a good replica and can. Empty: no node can.
func (r Reader) Candidate(ctx context.Context, v *v1beta2.Volume, held string) (string, error) {
	if v.Spec.NodeID != "" {
		node, err := r.node(ctx, v.Spec.NodeID)
		if err != nil {
			return "", err
		}
		if !v1beta2.IsNodeDown(node) {
			return v.Spec.NodeID, nil
		}
	}
	var list v1beta2.ReplicaList
	if err := r.list(ctx, &list, kube.FieldVolume, v.Name); err != nil {
		return "", fmt.Errorf("listing the replicas of volume %s: %w", v.Name, err)
	}
	names := goodNodes(list.Items)
	slices.SortStableFunc(names, func(a, b string) int { return rank(a, held) - rank(b, held) })
	for _, name := range names {
		node, err := r.node(ctx, name)
		if err != nil {
			return "", err
		}
		if snapshot.CanAttach(node) {
			return name, nil
		}
	}
	return "", nil
}

// node is nil where there is none of that name.
func (r Reader) node(ctx context.Context, name string) (*v1beta2.Node, error) {
	return lookup.Get(ctx, r.Client, r.Namespace, name, &v1beta2.Node{})
}

func rank(name, first string) int {
	if name == first {
		return 0
	}
	return 1
}

// goodNodes are the nodes of replicas that hold the volume's data, or of all where none was ever opened, by name.
func goodNodes(replicas []v1beta2.Replica) []string {
	var out []string
	for i := range replicas {
		if r := &replicas[i]; r.Spec.NodeID != "" && v1beta2.IsReplicaReadable(r, replicas) {
			out = append(out, r.Spec.NodeID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
