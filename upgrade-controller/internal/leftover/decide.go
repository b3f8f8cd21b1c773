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
	// Fresh reports whether all this was read uncached.
	Fresh bool
}

// Verdict is what to write.
type Verdict struct {
	// Confirm requires the same decision on uncached reads; the rest of the verdict is ignored then.
	Confirm bool
	// SwitchBack are the volumes that are attached to the node and whose spec.targetNodeID names another one: it must be cleared.
	SwitchBack []cluster.Volume
	// Uncordon reports whether nothing is left and the node can be uncordoned.
	Uncordon bool
}

// Decide returns what to do about a node. A node that is not cordoned, that is gone, or that has an upgrade, is left alone. Targets are
// switched back once the node can hold them; until then they stay where they serve.
func Decide(w World) Verdict {
	node := w.Cluster.Nodes[w.Node]
	if !node.Exists() || !node.Object.Spec.UpgradeRequested || Upgraded(w.Node, w.Upgrades) {
		return Verdict{}
	}
	relocated := w.relocated()
	if len(relocated) > 0 && !node.Serves() {
		return Verdict{}
	}
	if !w.Fresh {
		return Verdict{Confirm: true}
	}
	return Verdict{SwitchBack: relocated, Uncordon: len(relocated) == 0}
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
