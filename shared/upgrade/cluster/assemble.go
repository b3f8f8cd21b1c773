package cluster

import (
	"cmp"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// New returns the nodes with their v2 instance managers, without volumes. The objects are not copied.
func New(nodes []v1beta2.Node, managers []v1beta2.InstanceManager) Cluster {
	out := Cluster{Nodes: map[string]Node{}, Volumes: map[string]Volume{}}
	for i := range nodes {
		out.Nodes[nodes[i].Name] = Node{Object: &nodes[i]}
	}
	for _, m := range Pointers(managers, func(m *v1beta2.InstanceManager) string { return m.Name }) {
		if node := out.Nodes[m.Spec.NodeID]; m.Spec.DataEngine == v1beta2.DataEngineV2 && m.Spec.Type == v1beta2.InstanceManagerTypeAIO {
			node.Managers = append(node.Managers, m)
			out.Nodes[m.Spec.NodeID] = node
		}
	}
	return out
}

// Counts reports whether the volume is of v2, and in use or listed: one that the upgrade of a node has in its status.
func Counts(v *v1beta2.Volume, listed bool) bool {
	return v.Spec.DataEngine == v1beta2.DataEngineV2 && (listed || v.Status.State != v1beta2.VolumeStateDetached)
}

// NewVolume returns the volume with its engines and replicas.
func NewVolume(v *v1beta2.Volume, engines []v1beta2.Engine, replicas []v1beta2.Replica) Volume {
	return Volume{Object: v, Engines: Pointers(engines, func(e *v1beta2.Engine) string { return e.Name }),
		Replicas: Pointers(replicas, func(r *v1beta2.Replica) string { return r.Name })}
}

// AddInstances adds the engines and replicas to their volumes, if those are there.
func (c Cluster) AddInstances(engines []v1beta2.Engine, replicas []v1beta2.Replica) {
	for _, e := range Pointers(engines, func(e *v1beta2.Engine) string { return e.Name }) {
		if v, ok := c.Volumes[e.Spec.VolumeName]; ok {
			v.Engines = append(v.Engines, e)
			c.Volumes[e.Spec.VolumeName] = v
		}
	}
	for _, r := range Pointers(replicas, func(r *v1beta2.Replica) string { return r.Name }) {
		if v, ok := c.Volumes[r.Spec.VolumeName]; ok {
			v.Replicas = append(v.Replicas, r)
			c.Volumes[r.Spec.VolumeName] = v
		}
	}
}

// AddClones records at each volume which others are being filled from it.
func (c Cluster) AddClones(volumes []v1beta2.Volume) {
	for i := range volumes {
		clone := &volumes[i]
		if v, ok := c.Volumes[FilledFrom(clone)]; ok {
			v.Clones = append(v.Clones, clone.Name)
			slices.Sort(v.Clones)
			c.Volumes[v.Object.Name] = v
		}
	}
}

// AddWork records at each volume which of the snapshots are being removed, and which of the backups are being taken.
func (c Cluster) AddWork(snapshots []v1beta2.Snapshot, backups []v1beta2.Backup) {
	for i := range snapshots {
		s := &snapshots[i]
		if v, ok := c.Volumes[s.Spec.Volume]; ok && Removing(s) {
			v.Removals = append(v.Removals, s.Name)
			slices.Sort(v.Removals)
			c.Volumes[s.Spec.Volume] = v
		}
	}
	for i := range backups {
		b := &backups[i]
		if !v1beta2.IsBackupBegun(b) {
			continue
		}
		for name, v := range c.Volumes {
			if of := BackedUp(b); of == name || of == v1beta2.LabelValue(name) {
				v.Backups = append(v.Backups, b.Name)
				slices.Sort(v.Backups)
				c.Volumes[name] = v
			}
		}
	}
}

// Order returns the nodes of an upgrade in their order: as named, each once, else every node that has a v2 instance manager: first those
// without instances, then those with fewer engines, then by name.
func (c Cluster) Order(named []string) []string {
	var out []string
	if len(named) > 0 {
		for _, name := range named {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		return out
	}
	load := map[string][2]int{}
	for name, node := range c.Nodes {
		if node.Exists() && len(node.Managers) > 0 {
			out = append(out, name)
			load[name] = [2]int{min(len(c.On(name)), 1), c.Engines(name)}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := load[a], load[b]
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	return out
}

// Pointers returns pointers to the items in order of their names.
func Pointers[T any](items []T, name func(*T) string) []*T {
	out := make([]*T, 0, len(items))
	for i := range items {
		out = append(out, &items[i])
	}
	slices.SortFunc(out, func(a, b *T) int { return cmp.Compare(name(a), name(b)) })
	return out
}
