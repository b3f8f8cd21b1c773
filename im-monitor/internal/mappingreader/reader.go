// Package mappingreader reads, for package mapping, who may use a v2 replica: the volume, its Engines, and the instance
// managers that may run one of them.
package mappingreader

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Reader reads through a cache and past it.
type Reader struct {
	Cached, Uncached client.Reader
	Store            inventory.Store
	Namespace        string
}

// Volume is what is read about a replica's volume.
type Volume struct {
	Name string
	// Object is nil where there is none.
	Object  *v1beta2.Volume
	Engines []v1beta2.Engine
}

// Mapped are the volume's Engines as package mapping wants them.
func (v Volume) Mapped() []mapping.Engine {
	out := make([]mapping.Engine, 0, len(v.Engines))
	for i := range v.Engines {
		out = append(out, mapping.EngineOf(&v.Engines[i]))
	}
	return out
}

// Nodes are those that may run an engine of the volume; known is false when all may.
func (v Volume) Nodes() (nodes map[string]bool, known bool) {
	if v.Object == nil {
		return nil, false
	}
	nodes = map[string]bool{}
	spec, status := v.Object.Spec, v.Object.Status
	for _, n := range []string{
		spec.NodeID, spec.EngineNodeID, spec.MigrationNodeID, spec.TargetNodeID,
		status.CurrentNodeID, status.CurrentEngineNodeID, status.CurrentMigrationNodeID, status.CurrentTargetNodeID,
	} {
		nodes[n] = true
	}
	for i := range v.Engines {
		nodes[v.Engines[i].Spec.NodeID] = true
	}
	delete(nodes, "")
	return nodes, true
}

// OfVolume selects the objects of a volume.
func OfVolume(volume string) client.MatchingLabels {
	return client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
}

// Volume reads the volume uncached, and its engines from a reader, selected as given.
func (r Reader) Volume(ctx context.Context, engines client.Reader, selected client.ListOption, name string) (Volume, error) {
	out := Volume{Name: name}
	if name == "" {
		return out, nil
	}
	var err error
	if out.Object, err = lookup.Shared(ctx, r.Uncached, r.Namespace, name, &v1beta2.Volume{}); err != nil {
		return out, err
	}
	var list v1beta2.EngineList
	if err := engines.List(ctx, &list, client.InNamespace(r.Namespace), selected); err != nil {
		return out, fmt.Errorf("listing engines of volume %s: %w", name, err)
	}
	out.Engines = list.Items
	return out, nil
}

// Refresh lets the inventories of some nodes be read again, all at once, but for one that was read just now. One that
// cannot be read is unknown afterwards, which the check sees.
func (r Reader) Refresh(ctx context.Context, nodes map[string]bool, except string,
	fresh func(ctx context.Context, instanceManager string)) {
	var group sync.WaitGroup
	for node := range nodes {
		for _, im := range r.Store.OfNode(node) {
			if target, ok := r.Store.Target(im); !ok || target.DataEngine != v1beta2.DataEngineV2 || im == except {
				continue
			}
			group.Go(func() { fresh(ctx, im) })
		}
	}
	group.Wait()
}

// Places are all v2 instance managers with what their newest whole inventories report about the replica, by name. The cache
// may name them, but what speaks for a deletion (that there is none, that it is stopped, that its node is down) is asked
// of the API server.
func (r Reader) Places(ctx context.Context, replica string, volume Volume) ([]mapping.Place, error) {
	nodes, known := volume.Nodes()
	managers, err := r.v2Managers(ctx, nodes)
	if err != nil {
		return nil, err
	}
	out := make([]mapping.Place, 0, len(managers))
	for i := range managers {
		im := &managers[i]
		place := mapping.Place{InstanceManager: im.Name, Node: im.Spec.NodeID, Needed: !known || nodes[im.Spec.NodeID]}
		if snapshot, ok := r.Store.Latest(im.Name); ok {
			see(&place, snapshot, replica)
		} else if place.Needed {
			if place.Down, err = r.runsNothing(ctx, im); err != nil {
				return nil, err
			}
		}
		out = append(out, place)
	}
	mapping.Order(out)
	return out, nil
}

// v2Managers returns all v2 instance managers of the cache, those on the given nodes that it does not show yet, and those whose object was
// deleted while their pod has not ended.
func (r Reader) v2Managers(ctx context.Context, nodes map[string]bool) ([]v1beta2.InstanceManager, error) {
	var cached v1beta2.InstanceManagerList
	if err := r.Cached.List(ctx, &cached, client.InNamespace(r.Namespace), client.UnsafeDisableDeepCopy); err != nil {
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
	left, err := r.withoutObjects(ctx, cached.Items)
	if err != nil {
		return nil, err
	}
	out = append(out, left...)
	for node := range nodes {
		if shown[node] {
			continue
		}
		var list v1beta2.InstanceManagerList
		err := r.Uncached.List(ctx, &list, client.InNamespace(r.Namespace), client.MatchingLabels{
			v1beta2.LabelNodeOfComponent: v1beta2.LabelValue(node), v1beta2.LabelDataEngine: v1beta2.DataEngineV2})
		if err != nil {
			return nil, fmt.Errorf("listing instance managers of node %s: %w", node, err)
		}
		out = append(out, list.Items...)
	}
	return out, nil
}

// withoutObjects returns the v2 instance managers that deleted objects left: each is as its pod shows it.
func (r Reader) withoutObjects(ctx context.Context, objects []v1beta2.InstanceManager) (out []v1beta2.InstanceManager, err error) {
	var pods corev1.PodList
	if err := lookup.ListShared(ctx, r.Cached, r.Namespace, &pods,
		client.MatchingLabels{v1beta2.LabelDataEngine: v1beta2.DataEngineV2}); err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(objects))
	for i := range objects {
		known[objects[i].Name] = true
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; !known[pod.Name] && !instancemanager.PodEnded(pod) && !instancemanager.NeverStarted(pod) {
			out = append(out, *instancemanager.Of(pod))
		}
	}
	return out, nil
}

// runsNothing reports whether an instance manager that does not answer surely runs no engine: it is stopped or gone, or
// its node is down or gone. Only an instance manager for which the cache reports this is read again.
func (r Reader) runsNothing(ctx context.Context, im *v1beta2.InstanceManager) (bool, error) {
	if im.Status.CurrentState == v1beta2.InstanceManagerStateStopped {
		now, err := lookup.Shared(ctx, r.Uncached, r.Namespace, im.Name, &v1beta2.InstanceManager{})
		if err != nil || now == nil || now.Status.CurrentState == v1beta2.InstanceManagerStateStopped {
			return err == nil, err
		}
	}
	node, err := lookup.Shared(ctx, r.Cached, r.Namespace, im.Spec.NodeID, &v1beta2.Node{})
	if err != nil || !v1beta2.IsNodeDown(node) {
		return false, err
	}
	node, err = lookup.Shared(ctx, r.Uncached, r.Namespace, im.Spec.NodeID, &v1beta2.Node{})
	return err == nil && v1beta2.IsNodeDown(node), err
}

// see puts into a place what its newest list reports about the replica. An engine whose map is not reported may map anything.
func see(p *mapping.Place, snapshot *inventory.Snapshot, replica string) {
	p.Known = true
	for _, i := range snapshot.Instances.All() {
		if i.Type != v1beta2.InstanceTypeEngine {
			continue
		}
		if i.Replicas == nil {
			p.Known = false
		}
		if address, ok := i.Replicas[replica]; ok && (p.MappedBy == "" || i.Name < p.MappedBy) {
			p.MappedBy, p.MappedAddress = i.Name, address
		}
	}
	p.Known = p.Known || p.MappedBy != ""
}
