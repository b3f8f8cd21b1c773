// Package cluster is the upgrade's view of nodes and volumes, with queries on it: which volumes a node carries, which of
// their replicas are healthy, which node could hold a target meanwhile. The package decides nothing, uses no client,
// and does not modify the objects, which belong to the cache.
package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/managerimage"
)

// Cluster is every node and every v2 volume that is not detached, or the subset that one node's upgrade needs.
type Cluster struct {
	Nodes   map[string]Node
	Volumes map[string]Volume
	// Load counts the targets on each node if Volumes is a subset; nil: Volumes is complete.
	Load map[string]int
	// Profiles are the operator's own profiles of images.
	Profiles map[string]managerimage.Profile
}

// Node is a node with its v2 instance managers.
type Node struct {
	// Object is nil where no such Node exists.
	Object *v1beta2.Node
	// Managers are the v2 instance managers of the node, in order of their names.
	Managers []*v1beta2.InstanceManager
}

// Volume is a v2 volume with its parts, each list in order of names.
type Volume struct {
	Object   *v1beta2.Volume
	Engines  []*v1beta2.Engine
	Replicas []*v1beta2.Replica
	// Clones are the names of the volumes that are being filled from this one, Removals those of its snapshots whose data is being removed,
	// Backups those of its backups that are being taken; each sorted.
	Clones, Removals, Backups []string
}

// Removing reports whether a snapshot's data is being removed: it was deleted, and nothing blocks that.
func Removing(s *v1beta2.Snapshot) bool {
	return s.DeletionTimestamp != nil && conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalApproved) &&
		!conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotWithdrawn)
}

// BackedUp is the volume that a backup is of; one of a long name is there as a label's value.
func BackedUp(b *v1beta2.Backup) string {
	return cmp.Or(b.Status.VolumeName, b.Labels[v1beta2.LabelBackupVolume])
}

// FilledFrom is the volume that this one is being filled from; "" where it is not.
func FilledFrom(v *v1beta2.Volume) string {
	if v.DeletionTimestamp != nil || v.Status.CloneStatus.State != v1beta2.CloneInitiated {
		return ""
	}
	return v.Status.CloneStatus.SourceVolume
}

// On returns the names of the attached volumes that the node carries, sorted.
func (c Cluster) On(node string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Volumes)) {
		if c.Volumes[name].On(node) {
			out = append(out, name)
		}
	}
	return out
}

// Engines counts the volumes whose target is on the node.
func (c Cluster) Engines(node string) int {
	if c.Load != nil {
		return c.Load[node]
	}
	count := 0
	for _, v := range c.Volumes {
		if v.TargetOn(node) {
			count++
		}
	}
	return count
}

// Taking reports whether the node takes targets of others: it can, and no person keeps it free.
func (n Node) Taking() bool { return n.able() && n.KeptFree() == "" }

// able reports whether the node could take targets of others: it serves, and is not cordoned for an upgrade of its own.
func (n Node) able() bool { return n.Serves() && !n.Object.Spec.UpgradeRequested }

// KeptFree is how a person keeps the node free, as text for a message; empty if no person does.
func (n Node) KeptFree() string {
	switch {
	case !n.Exists():
		return ""
	case n.Object.Spec.EvictionRequested:
		return "being evicted"
	case !n.Object.Spec.AllowScheduling:
		return "scheduling off"
	}
	return ""
}

// KeptFree names the nodes beside this one that could hold targets and that a person keeps free, and how, in order: "b (being evicted), c
// (scheduling off)".
func (c Cluster) KeptFree(beside string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Nodes)) {
		if n := c.Nodes[name]; name != beside && n.able() && n.KeptFree() != "" {
			out = append(out, name+" ("+n.KeptFree()+")")
		}
	}
	return strings.Join(out, ", ")
}

// Temporary returns the node that must hold the volume's target while its node is upgraded, "" if none can. One with
// a healthy replica goes before others, then one that has the image already, then the one with fewest engines, those that
// are about to come counted, then the name decides. A node that a person keeps free (no scheduling, or an eviction) is left
// out; it is the last choice for a target that lost its node (lost) and runs nowhere else.
func (c Cluster) Temporary(v Volume, upgraded, image string, coming map[string]int, lost bool) string {
	var candidates []string
	for name, node := range c.Nodes {
		if name != upgraded && (node.Taking() || lost && node.able()) {
			candidates = append(candidates, name)
		}
	}
	first := func(is bool) int {
		if is {
			return 0
		}
		return 1
	}
	rank := func(name string) [4]int {
		n := c.Nodes[name]
		return [4]int{first(n.Taking()), first(c.healthyOn(v, name)), first(n.Runs(image)), c.Engines(name) + coming[name]}
	}
	slices.SortFunc(candidates, func(a, b string) int {
		x, y := rank(a), rank(b)
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	if len(candidates) == 0 {
		return ""
	}
	return candidates[0]
}

// Healthy returns the nodes of the volume's healthy replicas, one entry for each replica, sorted.
func (c Cluster) Healthy(v Volume) []string {
	var out []string
	for _, r := range v.Replicas {
		if c.healthy(v, r) {
			out = append(out, r.Spec.NodeID)
		}
	}
	slices.Sort(out)
	return out
}

// HealthyBeside counts the volume's healthy replicas on other nodes than this.
func (c Cluster) HealthyBeside(v Volume, node string) int {
	count := 0
	for _, n := range c.Healthy(v) {
		if n != node {
			count++
		}
	}
	return count
}

// Unseen names the instance managers of nodes in service whose instances are not known at the moment, and the volumes in use
// with a part that must run and is not known to. The blockers of an upgrade are not known then either. Sorted.
func (c Cluster) Unseen() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.Nodes)) {
		node := c.Nodes[name]
		if !node.Down() && slices.ContainsFunc(node.Managers, func(m *v1beta2.InstanceManager) bool {
			return m.Status.CurrentState == v1beta2.InstanceManagerStateUnknown
		}) {
			out = append(out, "the instance manager of node "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Volumes)) {
		v := c.Volumes[name]
		unseen := c.unevaluated(v)
		for _, e := range v.Engines {
			unseen = unseen || c.unseen(e.Spec.NodeID, e.Spec.DesireState, e.Status.CurrentState)
		}
		for _, r := range v.Replicas {
			unseen = unseen || c.unseen(r.Spec.NodeID, r.Spec.DesireState, r.Status.CurrentState)
		}
		if unseen && v.Attached() {
			out = append(out, "volume "+name)
		}
	}
	return out
}

// unevaluated reports whether the volume's robustness is not evaluated yet, as right after its parts are read again; a node that is
// down is evidence enough.
func (c Cluster) unevaluated(v Volume) bool {
	return v.Object.Status.Robustness == v1beta2.VolumeRobustnessUnknown && !c.Nodes[v.Holder()].Down() &&
		!slices.ContainsFunc(v.Engines, func(e *v1beta2.Engine) bool { return c.Nodes[e.Spec.NodeID].Down() })
}

func (c Cluster) unseen(node, desired, current string) bool {
	return desired == v1beta2.InstanceStateRunning && current == v1beta2.InstanceStateUnknown && !c.Nodes[node].Down()
}

func (c Cluster) healthyOn(v Volume, node string) bool { return slices.Contains(c.Healthy(v), node) }

// healthy: the running engine reads and writes the replica, the replica is not deleted or failed, and its node serves.
func (c Cluster) healthy(v Volume, r *v1beta2.Replica) bool {
	engine := v.Active()
	return engine != nil && engine.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && mapped(engine, r.Name) &&
		r.DeletionTimestamp == nil && r.Spec.FailedAt == "" && r.Status.CurrentState == v1beta2.InstanceStateRunning &&
		!v1beta2.IsNodeDown(c.Nodes[r.Spec.NodeID].Object)
}
