package leftover

import (
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// World is what was read about one node. The objects belong to the cache and are not modified.
type World struct {
	Node string
	// Upgrades are all upgrades of nodes; Cluster has the node, and every volume that is attached there.
	Upgrades []*v1beta2.NodeDataEngineUpgrade
	Cluster  cluster.Cluster
	// Requested are all volumes with a spec.targetNodeID, wherever they are attached. They are read before Upgrades.
	Requested []*v1beta2.Volume
	// Fresh reports whether all this was read uncached.
	Fresh bool
}

// Verdict is what to write.
type Verdict struct {
	// Confirm requires the same decision on uncached reads; the rest of the verdict is ignored then.
	Confirm bool
	// SwitchBack are the volumes that are attached to the node and whose spec.targetNodeID names another one: it must be cleared.
	SwitchBack []cluster.Volume
	// Clear are other volumes whose spec.targetNodeID no upgrade clears any more: it must be cleared.
	Clear []*v1beta2.Volume
	// Uncordon reports whether nothing is left and the node can be uncordoned.
	Uncordon bool
}

// Decide returns what to do about a node. A node that is not cordoned, that is gone, or that has an upgrade, is left alone. Targets are
// switched back once the node can hold them; until then they stay where they serve. Volumes that moved away meanwhile do not depend on it.
func Decide(w World) Verdict {
	node := w.Cluster.Nodes[w.Node]
	if !w.cordoned(w.Node) || Upgraded(w.Node, w.Upgrades) {
		return Verdict{}
	}
	relocated, abandoned := w.relocated(), w.abandoned()
	waits := len(relocated) > 0 && !node.Serves()
	if waits && len(abandoned) == 0 {
		return Verdict{}
	}
	if !w.Fresh {
		return Verdict{Confirm: true}
	}
	if waits {
		return Verdict{Clear: abandoned}
	}
	return Verdict{SwitchBack: relocated, Clear: abandoned, Uncordon: len(relocated) == 0}
}

// Upgraded reports whether an upgrade of the node has begun and not ended. One that has not begun waits until the node is uncordoned.
func Upgraded(node string, upgrades []*v1beta2.NodeDataEngineUpgrade) bool {
	return slices.ContainsFunc(upgrades, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		return u.Spec.NodeID == node && nodeupgrade.Begun(u.Status.State)
	})
}

func (w World) relocated() []cluster.Volume {
	var out []cluster.Volume
	for _, name := range slices.Sorted(maps.Keys(w.Cluster.Volumes)) {
		if v := w.Cluster.Volumes[name]; v.Holder() == w.Node && v.Object.Spec.TargetNodeID != "" {
			out = append(out, v)
		}
	}
	return out
}

// abandoned are the volumes that are not attached to the node and whose spec.targetNodeID no upgrade clears any more: their user moved or
// detached them after the upgrade that vanished had relocated their targets. Nothing leads from such a volume to this node. But an
// upgrade lists a volume before it relocates its target, so that a request for a volume that no begun upgrade lists is left over. A request
// that a person wrote looks the same and is cleared as well: its target comes back to the volume's node, and no data is lost. A volume on a
// node under upgrade is about to be listed, and the target of a volume on another cordoned node is switched back by the decision about that
// node. While the field is set, snapshots, migrations and rebuilds of the volume wait.
func (w World) abandoned() []*v1beta2.Volume {
	var out []*v1beta2.Volume
	for _, v := range w.Requested {
		holder := cluster.Volume{Object: v}.Holder()
		if holder != w.Node && !w.cordoned(holder) && !Upgraded(holder, w.Upgrades) && !w.listed(v.Name) {
			out = append(out, v)
		}
	}
	return out
}

func (w World) cordoned(name string) bool {
	node := w.Cluster.Nodes[name]
	return node.Exists() && node.Object.Spec.UpgradeRequested
}

// listed reports whether an upgrade that has begun and not ended has the volume in its status.
func (w World) listed(volume string) bool {
	return slices.ContainsFunc(w.Upgrades, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		_, listed := u.Status.Volumes[volume]
		return listed && nodeupgrade.Begun(u.Status.State)
	})
}
