package upgradecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// around reads what the upgrade of a node is about: the nodes, the v2 volumes that use the node, and those that its status
// names. A cached read costs as much as these volumes; an uncached one reads everything.
func (o observer) around(ctx context.Context, u *v1beta2.NodeDataEngineUpgrade, fresh bool) (cluster.Cluster, error) {
	if fresh {
		return o.everything(ctx, o.live, u.Status.Volumes)
	}
	out, err := o.nodes(ctx, o.cached)
	if err != nil {
		return out, err
	}
	used, err := o.using(ctx, u.Spec.NodeID)
	if err != nil {
		return out, err
	}
	for name := range u.Status.Volumes {
		used[name] = true
	}
	for name := range used {
		_, listed := u.Status.Volumes[name]
		if err := o.volume(ctx, name, listed, out.Volumes); err != nil {
			return out, err
		}
	}
	var filled v1beta2.VolumeList
	if err := lookup.ListShared(ctx, o.cached, o.namespace, &filled, client.MatchingFields{byFilling: kube.Yes}); err != nil {
		return out, err
	}
	out.AddClones(filled.Items)
	if err := o.work(ctx, out); err != nil {
		return out, err
	}
	if nodeupgrade.Chooses(u, out) {
		out.Load, err = o.load(ctx, out.Nodes)
	}
	return out, err
}

// using are the names of the volumes of which the node has the frontend, an engine or a replica, or had.
func (o observer) using(ctx context.Context, node string) (map[string]bool, error) {
	names := map[string]bool{}
	var volumes v1beta2.VolumeList
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	for _, into := range []client.ObjectList{&volumes, &engines, &replicas} {
		if err := lookup.ListShared(ctx, o.cached, o.namespace, into, client.MatchingFields{kube.FieldNode: node}); err != nil {
			return nil, err
		}
	}
	for i := range volumes.Items {
		names[volumes.Items[i].Name] = true
	}
	for i := range engines.Items {
		names[engines.Items[i].Spec.VolumeName] = true
	}
	for i := range replicas.Items {
		names[replicas.Items[i].Spec.VolumeName] = true
	}
	return names, nil
}

// volume reads one volume with its parts; only a v2 volume in use, or one that is listed, counts.
func (o observer) volume(ctx context.Context, name string, listed bool, into map[string]cluster.Volume) error {
	var volumes v1beta2.VolumeList
	if err := lookup.ListShared(ctx, o.cached, o.namespace, &volumes, client.MatchingFields{byName: name}); err != nil {
		return err
	}
	if len(volumes.Items) == 0 || !cluster.Counts(&volumes.Items[0], listed) {
		return nil
	}
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	for _, parts := range []client.ObjectList{&engines, &replicas} {
		if err := lookup.ListShared(ctx, o.cached, o.namespace, parts, client.MatchingFields{kube.FieldVolume: name}); err != nil {
			return err
		}
	}
	into[name] = cluster.NewVolume(&volumes.Items[0], engines.Items, replicas.Items)
	return nil
}

// work records at each volume which of its snapshots are being removed, and which of its backups are being taken. It is always read from
// the cache: only what is under way is indexed, and of snapshots there may be very many.
func (o observer) work(ctx context.Context, into cluster.Cluster) error {
	var removed v1beta2.SnapshotList
	var taken v1beta2.BackupList
	for _, work := range []client.ObjectList{&removed, &taken} {
		if err := lookup.ListShared(ctx, o.cached, o.namespace, work, client.MatchingFields{byWork: kube.Yes}); err != nil {
			return err
		}
	}
	into.AddWork(removed.Items, taken.Items)
	return nil
}

// load counts the targets on each node, of all volumes.
func (o observer) load(ctx context.Context, nodes map[string]cluster.Node) (map[string]int, error) {
	out := map[string]int{}
	for node := range nodes {
		var engines v1beta2.EngineList
		if err := lookup.ListShared(ctx, o.cached, o.namespace, &engines, client.MatchingFields{byTarget: node}); err != nil {
			return nil, err
		}
		out[node] = len(engines.Items)
	}
	return out, nil
}

// nodes reads the nodes with their v2 instance managers.
func (o observer) nodes(ctx context.Context, reader client.Reader) (cluster.Cluster, error) {
	var nodes v1beta2.NodeList
	var managers v1beta2.InstanceManagerList
	for _, into := range []client.ObjectList{&nodes, &managers} {
		if err := lookup.ListShared(ctx, reader, o.namespace, into); err != nil {
			return cluster.Cluster{}, err
		}
	}
	out := cluster.New(nodes.Items, managers.Items)
	out.Profiles = o.profiles
	return out, nil
}

// everything reads the nodes, and all v2 volumes that are in use or named.
func (o observer) everything(ctx context.Context, reader client.Reader, named map[string]v1beta2.VolumeUpgradeStatus) (cluster.Cluster,
	error) {
	out, err := o.nodes(ctx, reader)
	if err != nil {
		return out, err
	}
	var volumes v1beta2.VolumeList
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	for _, into := range []client.ObjectList{&volumes, &engines, &replicas} {
		if err := lookup.ListShared(ctx, reader, o.namespace, into); err != nil {
			return out, err
		}
	}
	for i := range volumes.Items {
		v := &volumes.Items[i]
		if _, listed := named[v.Name]; cluster.Counts(v, listed) {
			out.Volumes[v.Name] = cluster.Volume{Object: v}
		}
	}
	out.AddClones(volumes.Items)
	out.AddInstances(engines.Items, replicas.Items)
	return out, o.work(ctx, out)
}
