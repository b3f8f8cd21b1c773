package machine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// Upgrade is the live upgrade of a node's data engine, as far as it concerns the volume.
type Upgrade struct {
	Node, State, Image string
	// Listed reports whether the volume is in the upgrade's list. Replica is the volume's replica on the node, Original the node of its
	// target before; either may be empty.
	Listed            bool
	Replica, Original string
}

// detachesReplica reports whether the volume's replica on the node is out of its engine, and stays so.
func (u *Upgrade) detachesReplica() bool {
	switch u.State {
	case v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack:
		return true
	}
	return false
}

// replacesManager reports whether no engine may start on the node, because its instance manager is being replaced.
func (u *Upgrade) replacesManager() bool {
	return u.State == v1beta2.UpgradeStateDetachingReplicas || u.State == v1beta2.UpgradeStateUpgradingInstanceManager
}

func (f Facts) upgradeOf(node string) *Upgrade {
	for i := range f.Upgrades {
		if f.Upgrades[i].Node == node {
			return &f.Upgrades[i]
		}
	}
	return nil
}

// removedByUpgrade reports whether an upgrade wants a replica out of the running engine.
func (f Facts) removedByUpgrade(r *v1beta2.Replica) bool {
	u := f.upgradeOf(r.Spec.NodeID)
	return u != nil && u.detachesReplica() && u.Listed && u.Replica == r.Name && f.isV2()
}

// excludedByUpgrade reports whether an engine that starts excludes a replica, since another healthy one is available: the instance manager
// of its node is being replaced.
func (f Facts) excludedByUpgrade(r *v1beta2.Replica) bool {
	u := f.upgradeOf(r.Spec.NodeID)
	if u == nil || !u.detachesReplica() || !f.isV2() {
		return false
	}
	for _, other := range f.Replicas {
		v := f.upgradeOf(other.Spec.NodeID)
		if other != r && f.healthy(other) && !f.nodeDown(other.Spec.NodeID) && (v == nil || !v.detachesReplica()) {
			return true
		}
	}
	return false
}

// removeForUpgrade removes a replica from the running engine, unless it is the last RW one. It is marked as failed before the engine
// continues without it: it lacks what is written from then on. [UPG-1]
func (m membership) removeForUpgrade(r *v1beta2.Replica, wanted map[string]string) {
	_, mapped := wanted[r.Name]
	u := m.upgradeOf(r.Spec.NodeID)
	why := fmt.Sprintf("the data engine of node %s is being upgraded; it is rebuilt afterwards", u.Node)
	switch {
	case !mapped:
		m.fail(r, why)
		m.stopReplica(r)
	case m.otherStays(r, wanted):
		m.detachForUpgrade(r, wanted, why)
	default:
		m.wait(v1beta2.ReasonNodeUpgrading, fmt.Sprintf("Replica %s on %s stays, although that node is being upgraded: it is the last "+
			"RW one.", r.Name, u.Node))
	}
}

// detachForUpgrade marks a replica after a fresh poll, and removes it from the engine's replicas.
func (m membership) detachForUpgrade(r *v1beta2.Replica, wanted map[string]string, why string) {
	if !m.requestPoll() {
		return
	}
	if m.fail(r, why) {
		delete(wanted, r.Name)
	}
}

// otherStays reports whether another replica is RW, stays in the engine, and is on a node that is neither down nor about to lose it.
func (f Facts) otherStays(except *v1beta2.Replica, among map[string]string) bool {
	for _, r := range f.Replicas {
		_, mapped := among[r.Name]
		if mapped && r != except && f.healthy(r) && !f.nodeDown(r.Spec.NodeID) && !f.removedByUpgrade(r) &&
			f.mode(r.Name) == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// recordImage records the image under which the target runs again on its original node.
func (m targetMove) recordImage(original string) {
	u := m.upgradeOf(original)
	back := u != nil && u.Listed && u.Original == original && u.Image != "" && m.engine.Spec.NodeID == original &&
		(u.State == v1beta2.UpgradeStateSwitchingBack || u.State == v1beta2.UpgradeStateRebuildingReplica)
	switch {
	case back && m.Volume.Spec.Image != u.Image:
		m.patch(StageRun, m.Volume, "image", u.Image)
	case back:
		m.setStatus("currentImage", m.Volume.Status.CurrentImage, u.Image)
	}
}
