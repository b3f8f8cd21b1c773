package upgradecontroller

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/upgrade-controller/internal/cluster"
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
	clones(filled.Items, out.Volumes)
	if err := o.work(ctx, out.Volumes); err != nil {
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
	if len(volumes.Items) == 0 || !counts(&volumes.Items[0], listed) {
		return nil
	}
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	for _, parts := range []client.ObjectList{&engines, &replicas} {
		if err := lookup.ListShared(ctx, o.cached, o.namespace, parts, client.MatchingFields{kube.FieldVolume: name}); err != nil {
			return err
		}
	}
	into[name] = cluster.Volume{
		Object:   &volumes.Items[0],
		Engines:  pointers(engines.Items, func(e *v1beta2.Engine) string { return e.Name }),
		Replicas: pointers(replicas.Items, func(r *v1beta2.Replica) string { return r.Name }),
	}
	return nil
}

// clones records at each volume which others are being filled from it.
func clones(volumes []v1beta2.Volume, into map[string]cluster.Volume) {
	for i := range volumes {
		clone := &volumes[i]
		if v, ok := into[cluster.FilledFrom(clone)]; ok {
			v.Clones = append(v.Clones, clone.Name)
			slices.Sort(v.Clones)
			into[v.Object.Name] = v
		}
	}
}

// work records at each volume which of its snapshots are being removed, and which of its backups are being taken. It is always read from
// the cache: only what is under way is indexed, and of snapshots there may be very many.
func (o observer) work(ctx context.Context, into map[string]cluster.Volume) error {
	var removed v1beta2.SnapshotList
	var taken v1beta2.BackupList
	for _, work := range []client.ObjectList{&removed, &taken} {
		if err := lookup.ListShared(ctx, o.cached, o.namespace, work, client.MatchingFields{byWork: kube.Yes}); err != nil {
			return err
		}
	}
	for i := range removed.Items {
		s := &removed.Items[i]
		if v, ok := into[s.Spec.Volume]; ok {
			v.Removals = append(v.Removals, s.Name)
			slices.Sort(v.Removals)
			into[s.Spec.Volume] = v
		}
	}
	for i := range taken.Items {
		b := &taken.Items[i]
		for name, v := range into {
			if of := cluster.BackedUp(b); of == name || of == v1beta2.LabelValue(name) {
				v.Backups = append(v.Backups, b.Name)
				slices.Sort(v.Backups)
				into[name] = v
			}
		}
	}
	return nil
}

func counts(v *v1beta2.Volume, listed bool) bool {
	return v.Spec.DataEngine == v1beta2.DataEngineV2 && (listed || v.Status.State != v1beta2.VolumeStateDetached)
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
	out := cluster.Cluster{Nodes: map[string]cluster.Node{}, Volumes: map[string]cluster.Volume{}}
	var nodes v1beta2.NodeList
	var managers v1beta2.InstanceManagerList
	for _, into := range []client.ObjectList{&nodes, &managers} {
		if err := lookup.ListShared(ctx, reader, o.namespace, into); err != nil {
			return out, err
		}
	}
	for i := range nodes.Items {
		out.Nodes[nodes.Items[i].Name] = cluster.Node{Object: &nodes.Items[i]}
	}
	for _, m := range pointers(managers.Items, func(m *v1beta2.InstanceManager) string { return m.Name }) {
		if node := out.Nodes[m.Spec.NodeID]; m.Spec.DataEngine == v1beta2.DataEngineV2 && m.Spec.Type == v1beta2.InstanceManagerTypeAIO {
			node.Managers = append(node.Managers, m)
			out.Nodes[m.Spec.NodeID] = node
		}
	}
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
		if _, listed := named[v.Name]; counts(v, listed) {
			out.Volumes[v.Name] = cluster.Volume{Object: v}
		}
	}
	clones(volumes.Items, out.Volumes)
	for _, e := range pointers(engines.Items, func(e *v1beta2.Engine) string { return e.Name }) {
		if v, ok := out.Volumes[e.Spec.VolumeName]; ok {
			v.Engines = append(v.Engines, e)
			out.Volumes[e.Spec.VolumeName] = v
		}
	}
	for _, r := range pointers(replicas.Items, func(r *v1beta2.Replica) string { return r.Name }) {
		if v, ok := out.Volumes[r.Spec.VolumeName]; ok {
			v.Replicas = append(v.Replicas, r)
			out.Volumes[r.Spec.VolumeName] = v
		}
	}
	return out, o.work(ctx, out.Volumes)
}
