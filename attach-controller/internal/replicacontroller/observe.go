package replicacontroller

import (
	"context"
	"slices"
	"strings"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
)

type observer struct {
	reader       client.Reader
	namespace    string
	settings     *settingcontroller.Source[setting.Values]
	upgrades     upgrade.Reader
	instances    abandonedcontroller.Reader
	clock        clock.PassiveClock
	reservations *reservations
}

// observe fills the World of one volume, without the candidates.
func (o observer) observe(ctx context.Context, name string) (replica.World, error) {
	w := replica.World{Now: o.clock.Now(), Nodes: map[string]*v1beta2.Node{}, Rebuilding: map[string]int{},
		Listed: map[string][]abandoned.Listing{}}
	var err error
	if w.Volume, err = lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Volume{}); err != nil {
		return w, err
	}
	dataEngine := ""
	if w.Volume != nil {
		dataEngine = w.Volume.Spec.DataEngine
	}
	if err := o.belongings(ctx, name, &w); err != nil {
		return w, err
	}
	if dataEngine == v1beta2.DataEngineV2 {
		if err := o.upgrading(ctx, name, &w); err != nil {
			return w, err
		}
		if err := o.nodes(ctx, []string{w.Volume.Spec.TargetNodeID}, &w); err != nil {
			return w, err
		}
	}
	if err := o.workload(ctx, &w); err != nil {
		return w, err
	}
	w.Settings, err = o.settings.Current(ctx, dataEngine)
	return w, err
}

// upgrading finds the live upgrades that list the volume, or are of a node of its replicas.
func (o observer) upgrading(ctx context.Context, name string, w *replica.World) error {
	list, err := o.upgrades.UnderWay(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		u := &list[i]
		_, listed := u.Status.Volumes[name]
		if w.Nodes[u.Spec.NodeID] != nil || listed {
			w.Upgrades = append(w.Upgrades, replica.Upgrade{Node: u.Spec.NodeID, State: u.Status.State, Listed: listed})
		}
	}
	return nil
}

// belongings reads what belongs to the volume, and the nodes where it is.
func (o observer) belongings(ctx context.Context, name string, w *replica.World) error {
	if err := o.replicas(ctx, name, w); err != nil {
		return err
	}
	if err := o.engine(ctx, name, w); err != nil {
		return err
	}
	names := make([]string, 0, len(w.Replicas)+1)
	if w.Engine != nil {
		names = append(names, w.Engine.Spec.NodeID)
	}
	for _, r := range slices.Concat(w.Replicas, w.Second, w.Previous) {
		names = append(names, r.Spec.NodeID)
		if r.DeletionTimestamp != nil {
			var err error
			if w.Listed[r.Name], err = o.instances.Listed(ctx, abandoned.Replicas, r.Name); err != nil {
				return err
			}
		}
	}
	return o.nodes(ctx, names, w)
}

// replicas reads the replicas of the volume, and those of a previous volume of its name.
func (o observer) replicas(ctx context.Context, name string, w *replica.World) error {
	var list v1beta2.ReplicaList
	if err := o.list(ctx, &list, client.MatchingFields{kube.FieldVolume: name}); err != nil {
		return err
	}
	for i := range list.Items {
		if r := &list.Items[i]; w.Volume == nil || v1beta2.BelongsTo(r, w.Volume) {
			w.Replicas = append(w.Replicas, r)
		} else {
			w.Previous = append(w.Previous, r)
		}
	}
	slices.SortFunc(w.Replicas, func(a, b *v1beta2.Replica) int { return strings.Compare(a.Name, b.Name) })
	if w.Volume != nil {
		w.Replicas, w.Second = v1beta2.SplitCopies(w.Replicas)
	}
	return nil
}

// engine reads the volume's active engine; of several the one on the node where the volume is.
func (o observer) engine(ctx context.Context, name string, w *replica.World) error {
	var list v1beta2.EngineList
	if err := o.list(ctx, &list, client.MatchingFields{kube.FieldVolume: name}); err != nil {
		return err
	}
	for i := range list.Items {
		e := &list.Items[i]
		if !e.Spec.Active || w.Volume != nil && !v1beta2.BelongsTo(e, w.Volume) {
			continue
		}
		if w.Engine == nil || w.Volume != nil && e.Spec.NodeID == w.Volume.Status.CurrentNodeID {
			w.Engine = e
		}
	}
	return nil
}

func (o observer) nodes(ctx context.Context, names []string, w *replica.World) error {
	for _, name := range names {
		if _, read := w.Nodes[name]; read || name == "" {
			continue
		}
		n, err := lookup.Shared(ctx, o.reader, o.namespace, name, &v1beta2.Node{})
		if err != nil {
			return err
		}
		w.Nodes[name] = n
		w.Rebuilding[name] = o.reservations.rebuilds(name)
	}
	return nil
}

// candidates reads every node: a replica may be placed on any.
func (o observer) candidates(ctx context.Context, w *replica.World) error {
	var nodes v1beta2.NodeList
	if err := o.list(ctx, &nodes); err != nil {
		return err
	}
	if err := o.reservations.fill(func() ([]v1beta2.Replica, error) {
		var all v1beta2.ReplicaList
		err := o.list(ctx, &all)
		return all.Items, err
	}); err != nil {
		return err
	}
	o.reservations.promise(w.Replicas, w.Volume.Status.AcceptedSize) // a larger size that could not be written was not accepted
	slices.SortFunc(nodes.Items, func(a, b v1beta2.Node) int { return strings.Compare(a.Name, b.Name) })
	deployed, err := o.deployed(ctx, w)
	if err != nil {
		return err
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		c := placement.Node{Node: n, Scheduled: map[string]int64{}, Copied: map[string]int64{}}
		for _, disk := range n.Status.DiskStatus {
			c.Scheduled[disk.DiskUUID] = o.reservations.bytes(n.Name, disk.DiskUUID)
			c.Copied[disk.DiskUUID] = o.reservations.copies(n.Name, disk.DiskUUID)
		}
		if on, known := deployed[n.Name]; known {
			c.LacksImage = !on
		}
		if c.HasManager, err = o.hasManager(ctx, n.Name, w.Volume.Spec.DataEngine); err != nil {
			return err
		}
		w.Candidates = append(w.Candidates, c)
		w.Rebuilding[n.Name] = o.reservations.rebuilds(n.Name)
	}
	return nil
}

// deployed returns where the engine image of a v1 volume is, and is not; a node that it lacks is unknown.
func (o observer) deployed(ctx context.Context, w *replica.World) (map[string]bool, error) {
	if w.Volume.Spec.DataEngine == v1beta2.DataEngineV2 {
		return nil, nil
	}
	i, err := lookup.Shared(ctx, o.reader, o.namespace, v1beta2.EngineImageName(w.Image()), &v1beta2.EngineImage{})
	if err != nil || i == nil {
		return nil, err
	}
	return i.Status.NodeDeploymentMap, nil
}

// cachedVolumes reads the cache. A volume that it does not show counts as empty.
type cachedVolumes struct {
	reader    client.Reader
	namespace string
}

func (c cachedVolumes) accepted(volume string) int64 {
	v, err := lookup.Shared(context.Background(), c.reader, c.namespace, volume, &v1beta2.Volume{})
	if err != nil || v == nil {
		return 0
	}
	return v.Status.AcceptedSize
}

func (c cachedVolumes) data(volume string) (bytes int64) {
	var engines v1beta2.EngineList
	err := lookup.ListShared(context.Background(), c.reader, c.namespace, &engines, client.MatchingFields{kube.FieldVolume: volume})
	for i := range engines.Items {
		if err == nil {
			bytes = max(bytes, replica.DataOf(&engines.Items[i]))
		}
	}
	return bytes
}

func (o observer) hasManager(ctx context.Context, node, dataEngine string) (bool, error) {
	var managers v1beta2.InstanceManagerList
	if err := o.list(ctx, &managers, client.MatchingFields{kube.FieldNode: node}); err != nil {
		return false, err
	}
	return slices.ContainsFunc(managers.Items, func(m v1beta2.InstanceManager) bool {
		return m.Spec.DataEngine == dataEngine && m.Status.CurrentState == v1beta2.InstanceStateRunning
	}), nil
}

func (o observer) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return lookup.ListShared(ctx, o.reader, o.namespace, list, options...)
}
