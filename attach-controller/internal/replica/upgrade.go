package replica

import (
	"cmp"

	"drover.dev/drover/shared/api/v1beta2"
)

// Upgrade is the live upgrade of a node's data engine, as far as it concerns the volume.
type Upgrade struct {
	Node, State string
	// Listed reports whether the volume is in the upgrade's list.
	Listed bool
}

// heldBack reports whether an upgrade that lists the volume is not over yet, or the volume's target moves: the replica that was taken out
// returns to its place afterwards, and nothing is rebuilt, replaced or tidied up meanwhile.
func (w *World) heldBack() bool {
	for _, u := range w.Upgrades {
		if u.Listed && !u.over() {
			return true
		}
	}
	return w.moving()
}

// over reports whether the replica that the upgrade took out of the volume's engine may return.
func (u Upgrade) over() bool {
	return u.State == v1beta2.UpgradeStateRebuildingReplica || u.State == v1beta2.UpgradeStateRollingBack
}

// mayReturn reports whether replicas on a node that takes no new ones may be rebuilt there.
func (w *World) mayReturn(node string) bool {
	for _, u := range w.Upgrades {
		if u.Node == node && u.over() {
			return true
		}
	}
	return false
}

// moving reports whether the target of an attached v2 volume moves to the node that it is wanted on. If that node is down, the target
// stays, perhaps for ever: without an upgrade under way nobody chooses a different node.
func (w *World) moving() bool {
	v := w.Volume
	if v.Spec.DataEngine != v1beta2.DataEngineV2 || v.Status.State != v1beta2.VolumeStateAttached || v.Spec.DisableFrontend {
		return false
	}
	wanted := v.Spec.TargetNodeID
	if wanted == v.Spec.NodeID {
		wanted = ""
	}
	if n, read := w.Nodes[wanted]; read && v1beta2.IsNodeDown(n) {
		return false
	}
	return wanted != v.Status.CurrentTargetNodeID
}

// engineNode returns the node on which the engine of an attached volume must be observed before anything is concluded from it.
func (w *World) engineNode() string {
	return cmp.Or(w.Volume.Status.CurrentTargetNodeID, w.Volume.Status.CurrentNodeID)
}
