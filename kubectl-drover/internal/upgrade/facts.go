// Package upgrade derives what an upgrade of the v2 data engine would meet, and how far one is, from objects that were read. It changes
// nothing, and imports no client. What upgrade-controller alone can check is named as such.
package upgrade

import (
	"cmp"
	"slices"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// facts are the v2 objects of a cluster, by node and volume.
type facts struct {
	world   *world.World
	nodes   map[string]node
	volumes []volume
}

// node is a Longhorn Node with its v2 instance managers; the Node may be missing.
type node struct {
	name     string
	object   *v1beta2.Node
	managers []*v1beta2.InstanceManager
}

// volume is a v2 volume with its parts.
type volume struct {
	*v1beta2.Volume
	engines  []*v1beta2.Engine
	replicas []*v1beta2.Replica
	// removals are Snapshots whose data is being removed, backups those under way, clones the volumes that are filled from this one.
	removals, backups, clones []string
}

func factsOf(w *world.World) facts {
	f := facts{world: w, nodes: map[string]node{}}
	for i := range w.Nodes.Items {
		n := &w.Nodes.Items[i]
		f.nodes[n.Name] = node{name: n.Name, object: n}
	}
	for i := range w.InstanceManagers.Items {
		m := &w.InstanceManagers.Items[i]
		if world.DataEngine(m.Spec.DataEngine) == v1beta2.DataEngineV2 && m.Spec.NodeID != "" {
			n := f.nodes[m.Spec.NodeID]
			n.name, n.managers = m.Spec.NodeID, append(n.managers, m)
			f.nodes[m.Spec.NodeID] = n
		}
	}
	for i := range w.Volumes.Items {
		if v := &w.Volumes.Items[i]; world.DataEngine(v.Spec.DataEngine) == v1beta2.DataEngineV2 {
			f.volumes = append(f.volumes, volumeOf(w, v))
		}
	}
	slices.SortFunc(f.volumes, func(a, b volume) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

func volumeOf(w *world.World, object *v1beta2.Volume) volume {
	v := volume{Volume: object}
	for i := range w.Engines.Items {
		if e := &w.Engines.Items[i]; e.Spec.VolumeName == v.Name {
			v.engines = append(v.engines, e)
		}
	}
	for i := range w.Replicas.Items {
		if r := &w.Replicas.Items[i]; r.Spec.VolumeName == v.Name {
			v.replicas = append(v.replicas, r)
		}
	}
	for i := range w.Snapshots.Items {
		if s := &w.Snapshots.Items[i]; s.Spec.Volume == v.Name && removing(s) {
			v.removals = append(v.removals, s.Name)
		}
	}
	for i := range w.Backups.Items {
		if b := &w.Backups.Items[i]; b.Status.VolumeName == v.Name && !v1beta2.IsBackupEnded(b) {
			v.backups = append(v.backups, b.Name)
		}
	}
	for i := range w.Volumes.Items {
		if c := &w.Volumes.Items[i]; c.DeletionTimestamp == nil && c.Status.CloneStatus.State == v1beta2.CloneInitiated &&
			c.Status.CloneStatus.SourceVolume == v.Name {
			v.clones = append(v.clones, c.Name)
		}
	}
	return v
}

func (n node) exists() bool { return n.object != nil && n.object.DeletionTimestamp == nil }

// running returns the instance manager that runs; nil where none does.
func (n node) running() *v1beta2.InstanceManager {
	for _, m := range n.managers {
		if m.DeletionTimestamp == nil && m.Status.CurrentState == v1beta2.InstanceManagerStateRunning {
			return m
		}
	}
	return nil
}

func (n node) serves() bool { return n.exists() && !v1beta2.IsNodeDown(n.object) && n.running() != nil }

// able reports whether targets of other nodes can be here for a while.
func (n node) able() bool { return n.serves() && !n.object.Spec.UpgradeRequested }

func (n node) keptFree() string {
	switch {
	case n.object.Spec.EvictionRequested:
		return "being evicted"
	case !n.object.Spec.AllowScheduling:
		return "scheduling off"
	}
	return ""
}

// upgraded reports whether the image runs on the node, and no other one does.
func (n node) upgraded(image string) bool {
	current := false
	for _, m := range n.managers {
		switch {
		case m.Spec.Image == image:
			current = current || m.Status.CurrentState == v1beta2.InstanceManagerStateRunning && m.DeletionTimestamp == nil
		case m.Status.CurrentState != v1beta2.InstanceManagerStateStopped && m.Status.CurrentState != "":
			return false
		}
	}
	return current
}

// inUse reports whether the volume is attached, or about to be or not to be.
func (v volume) inUse() bool {
	state := v.Status.State
	return state == v1beta2.VolumeStateAttached || state == v1beta2.VolumeStateAttaching || state == v1beta2.VolumeStateDetaching
}

// holder is the node that has the frontend.
func (v volume) holder() string {
	if !v.inUse() {
		return ""
	}
	return cmp.Or(v.Status.CurrentNodeID, v.Spec.NodeID)
}

// on reports whether the node carries the frontend, an engine or a replica of a volume in use.
func (v volume) on(node string) bool {
	return v.inUse() && (v.holder() == node || v.engineOn(node) || len(v.replicasOn(node)) > 0)
}

func (v volume) engineOn(node string) bool {
	return slices.ContainsFunc(v.engines, func(e *v1beta2.Engine) bool {
		return e.Spec.NodeID == node && alive(e.Spec.DesireState, e.Status.CurrentState)
	})
}

func (v volume) replicasOn(node string) []*v1beta2.Replica {
	return slices.DeleteFunc(slices.Clone(v.replicas), func(r *v1beta2.Replica) bool {
		return r.Spec.NodeID != node || !alive(r.Spec.DesireState, r.Status.CurrentState)
	})
}

// active is the engine that serves the volume; nil where none runs.
func (v volume) active() *v1beta2.Engine {
	for _, e := range v.engines {
		if e.Spec.Active && e.DeletionTimestamp == nil && e.Status.CurrentState == v1beta2.InstanceStateRunning {
			return e
		}
	}
	return nil
}

// alive: wanted, or not known to be stopped. An instance without a state was never started.
func alive(desired, current string) bool {
	return desired == v1beta2.InstanceStateRunning || current != "" && current != v1beta2.InstanceStateStopped
}

// healthyNodes returns the nodes of the replicas that the engine reads and writes, one entry for each.
func (f facts) healthyNodes(v volume) []string {
	var out []string
	e := v.active()
	for _, r := range v.replicas {
		if e != nil && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && r.DeletionTimestamp == nil && r.Spec.FailedAt == "" &&
			r.Status.CurrentState == v1beta2.InstanceStateRunning && !v1beta2.IsNodeDown(f.nodes[r.Spec.NodeID].object) {
			out = append(out, r.Spec.NodeID)
		}
	}
	slices.Sort(out)
	return out
}
