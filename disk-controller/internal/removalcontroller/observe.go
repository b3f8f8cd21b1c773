package removalcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/replicadata"
)

// Fields by which the API server selects.
const (
	fieldNode   = "spec.nodeID"
	fieldDisk   = "spec.diskID"
	fieldVolume = "spec.volumeName"
)

// observe reads the world of a Replica uncached. The Replica itself comes first: its version is the one that a write is bound to, and what
// changes after it makes that write fail.
func (r *reconciler) observe(ctx context.Context, cached *v1beta2.Replica) (removal.World, error) {
	var w removal.World
	replica, err := lookup.Get(ctx, r.rt.Uncached, r.rt.Namespace, cached.Name, &v1beta2.Replica{})
	if err != nil || replica == nil || replica.UID != cached.UID || !replicadata.AwaitsRemoval(replica) {
		return w, err
	}
	if w.Node, err = lookup.Get(ctx, r.rt.Uncached, r.rt.Namespace, replica.Spec.NodeID, &v1beta2.Node{}); err != nil {
		return w, err
	}
	if err := r.observeClaims(ctx, replica, &w); err != nil {
		return w, err
	}
	if err := r.observeVolume(ctx, replica, &w); err != nil {
		return w, err
	}
	w.Replica = replica
	return w, nil
}

// observeClaims reads everything that may have the directory.
func (r *reconciler) observeClaims(ctx context.Context, replica *v1beta2.Replica, w *removal.World) error {
	var onDisk, onNode v1beta2.ReplicaList
	if err := r.list(ctx, &onDisk, fieldDisk, replica.Spec.DiskID); err != nil {
		return err
	}
	if err := r.list(ctx, &onNode, fieldNode, replica.Spec.NodeID); err != nil {
		return err
	}
	w.Claims.Replicas = append(onDisk.Items, onNode.Items...)
	var orphans v1beta2.OrphanList
	if err := r.list(ctx, &orphans, fieldNode, replica.Spec.NodeID); err != nil {
		return err
	}
	w.Claims.Orphans = orphans.Items
	var managers v1beta2.InstanceManagerList
	if err := r.list(ctx, &managers, fieldNode, replica.Spec.NodeID); err != nil {
		return err
	}
	w.Claims.Managers = managers.Items
	return nil
}

// observeVolume reads what the approval relies on. Copies count only if the volume stays.
func (r *reconciler) observeVolume(ctx context.Context, replica *v1beta2.Replica, w *removal.World) error {
	var err error
	name := replica.Spec.VolumeName
	if w.Volume, err = lookup.Get(ctx, r.rt.Uncached, r.rt.Namespace, name, &v1beta2.Volume{}); err != nil {
		return err
	}
	if !removal.NeedsCopy(replica) {
		return nil
	}
	var copies v1beta2.ReplicaList
	if err := r.list(ctx, &copies, fieldVolume, name); err != nil {
		return err
	}
	var engines v1beta2.EngineList
	if err := r.list(ctx, &engines, fieldVolume, name); err != nil {
		return err
	}
	w.Copies, w.Engines, w.Nodes = copies.Items, engines.Items, map[string]*v1beta2.Node{}
	for i := range copies.Items {
		node := copies.Items[i].Spec.NodeID
		if w.Nodes[node] != nil || node == "" {
			continue
		}
		if w.Nodes[node], err = lookup.Get(ctx, r.rt.Uncached, r.rt.Namespace, node, &v1beta2.Node{}); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) list(ctx context.Context, into client.ObjectList, field, value string) error {
	return lookup.List(ctx, r.rt.Uncached, r.rt.Namespace, into, client.MatchingFields{field: value})
}
