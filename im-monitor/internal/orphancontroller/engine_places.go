package orphancontroller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

// places are all v2 instance managers with what their newest whole inventories say about the replica, by name. The cache
// may name them, but what speaks for a deletion (that there is none, that it is stopped, that its node is down) is asked
// of the API server.
func (r *hands) places(ctx context.Context, key orphan.Key, volume volumeScene) ([]orphan.Place, error) {
	nodes, known := volume.nodes()
	managers, err := r.v2Managers(ctx, nodes)
	if err != nil {
		return nil, err
	}
	out := make([]orphan.Place, 0, len(managers))
	for i := range managers {
		im := &managers[i]
		place := orphan.Place{InstanceManager: im.Name, Node: im.Spec.NodeID, Needed: !known || nodes[im.Spec.NodeID]}
		if snapshot, ok := r.store.Latest(im.Name); ok {
			mapping(&place, snapshot, key.Name)
		} else if place.Needed {
			if place.Down, err = r.runsNothing(ctx, im); err != nil {
				return nil, err
			}
		}
		out = append(out, place)
	}
	slices.SortFunc(out, func(a, b orphan.Place) int { return cmp.Compare(a.InstanceManager, b.InstanceManager) })
	return out, nil
}

// v2Managers are all v2 instance managers of the cache, and those of the given nodes that it does not show yet.
func (r *hands) v2Managers(ctx context.Context, nodes map[string]bool) ([]v1beta2.InstanceManager, error) {
	var cached v1beta2.InstanceManagerList
	if err := r.client.List(ctx, &cached, client.InNamespace(r.namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing instance managers: %w", err)
	}
	var out []v1beta2.InstanceManager
	shown := map[string]bool{}
	for _, im := range cached.Items {
		if im.Spec.DataEngine == v1beta2.DataEngineV2 {
			shown[im.Spec.NodeID] = true
			out = append(out, im)
		}
	}
	for node := range nodes {
		if shown[node] {
			continue
		}
		var list v1beta2.InstanceManagerList
		err := r.uncached.List(ctx, &list, client.InNamespace(r.namespace), client.MatchingLabels{
			v1beta2.LabelNodeOfComponent: v1beta2.LabelValue(node), v1beta2.LabelDataEngine: v1beta2.DataEngineV2})
		if err != nil {
			return nil, fmt.Errorf("listing instance managers of node %s: %w", node, err)
		}
		out = append(out, list.Items...)
	}
	return out, nil
}

// runsNothing tells whether an instance manager that does not answer surely runs no engine: it is stopped or gone, or
// its node is down or gone. Only what the cache says so is asked again.
func (r *hands) runsNothing(ctx context.Context, im *v1beta2.InstanceManager) (bool, error) {
	if im.Status.CurrentState == v1beta2.InstanceManagerStateStopped {
		now, err := get(ctx, r.uncached, r.namespace, im.Name, &v1beta2.InstanceManager{})
		if err != nil || now == nil || now.Status.CurrentState == v1beta2.InstanceManagerStateStopped {
			return err == nil, err
		}
	}
	node, err := get(ctx, r.client, r.namespace, im.Spec.NodeID, &v1beta2.Node{})
	if err != nil || (node != nil && !nodeDown(node)) {
		return false, err
	}
	node, err = get(ctx, r.uncached, r.namespace, im.Spec.NodeID, &v1beta2.Node{})
	return err == nil && (node == nil || nodeDown(node)), err
}
