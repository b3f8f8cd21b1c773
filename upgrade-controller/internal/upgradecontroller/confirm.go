package upgradecontroller

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

const (
	// confirmedTogether is how many volumes are read uncached for one decision at most; the others follow in the next ones.
	confirmedTogether = 64
	// parallel is how many requests of one decision are under way at once.
	parallel = 16
)

// confirm reads the objects of volumes again, uncached, each by its name: the volume, its engines and replicas, and the nodes of its
// replicas. An engine or replica that the cache does not show is no danger: while another engine than the known ones serves a volume, none
// of those is active, and nothing is concluded from it; another replica is one copy more. The upgrade is not read again, because every
// write of its status is bound to the version that was evaluated.
func (o observer) confirm(ctx context.Context, w *nodeupgrade.World, names []string) (err error) {
	if w.Manager, err = lookup.Get(ctx, o.live, o.namespace, w.Upgrade.Spec.DataEngineUpgradeManager,
		&v1beta2.DataEngineUpgradeManager{}); err != nil {
		return err
	}
	names = names[:min(len(names), confirmedTogether)]
	if err := o.confirmNodes(ctx, w, names); err != nil {
		return err
	}
	var mutex sync.Mutex
	fresh := map[string]*cluster.Volume{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, name := range names {
		seen := w.Cluster.Volumes[name]
		group.Go(func() error {
			v, err := o.again(groupCtx, seen)
			mutex.Lock()
			defer mutex.Unlock()
			fresh[name] = v
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	w.FreshVolumes = map[string]bool{}
	for name, v := range fresh {
		w.FreshVolumes[name] = true
		if v == nil {
			delete(w.Cluster.Volumes, name)
			continue
		}
		w.Cluster.Volumes[name] = *v
	}
	w.Now = o.clock.Now()
	return nil
}

// confirmNodes reads the nodes again on which the volumes have replicas.
func (o observer) confirmNodes(ctx context.Context, w *nodeupgrade.World, names []string) error {
	read := map[string]bool{}
	for _, name := range names {
		for _, r := range w.Cluster.Volumes[name].Replicas {
			if read[r.Spec.NodeID] {
				continue
			}
			read[r.Spec.NodeID] = true
			object, err := o.freshNode(ctx, r.Spec.NodeID)
			if err != nil {
				return err
			}
			node := w.Cluster.Nodes[r.Spec.NodeID]
			node.Object = object
			w.Cluster.Nodes[r.Spec.NodeID] = node
		}
	}
	return nil
}

// again reads a volume with its parts; nil: it is gone.
func (o observer) again(ctx context.Context, seen cluster.Volume) (*cluster.Volume, error) {
	fresh := seen
	var err error
	if fresh.Object, err = o.freshVolume(ctx, seen.Object.Name); fresh.Object == nil || err != nil {
		return nil, err
	}
	if fresh.Engines, err = existing(ctx, seen.Engines, o.freshEngine); err != nil {
		return nil, err
	}
	fresh.Replicas, err = existing(ctx, seen.Replicas, o.freshReplica)
	return &fresh, err
}

// existing reads objects again; those that are gone, or whose name another object has by now, are left out.
func existing[T client.Object](ctx context.Context, seen []T, read func(context.Context, string) (T, error)) (out []T, err error) {
	for _, object := range seen {
		fresh, err := read(ctx, object.GetName())
		if err != nil {
			return nil, err
		}
		if any(fresh) != any(*new(T)) && fresh.GetUID() == object.GetUID() {
			out = append(out, fresh)
		}
	}
	return out, nil
}

func (o observer) freshVolume(ctx context.Context, name string) (*v1beta2.Volume, error) {
	var list v1beta2.VolumeList
	return only(&list.Items, o.named(ctx, &list, name))
}

func (o observer) freshEngine(ctx context.Context, name string) (*v1beta2.Engine, error) {
	var list v1beta2.EngineList
	return only(&list.Items, o.named(ctx, &list, name))
}

func (o observer) freshReplica(ctx context.Context, name string) (*v1beta2.Replica, error) {
	var list v1beta2.ReplicaList
	return only(&list.Items, o.named(ctx, &list, name))
}

func (o observer) freshNode(ctx context.Context, name string) (*v1beta2.Node, error) {
	var list v1beta2.NodeList
	return only(&list.Items, o.named(ctx, &list, name))
}

// named reads the one object of a name, uncached. The Role has no right to get; for a list by name the API server reads one key, too.
func (o observer) named(ctx context.Context, into client.ObjectList, name string) error {
	return lookup.List(ctx, o.live, o.namespace, into, client.MatchingFields{"metadata.name": name})
}

// only returns the item of a list of one, nil where it is empty.
func only[T any](items *[]T, err error) (*T, error) {
	if err != nil || len(*items) == 0 {
		return nil, err
	}
	return &(*items)[0], nil
}
