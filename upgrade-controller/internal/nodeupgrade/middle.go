package nodeupgrade

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// switchingOver relocates every target from the node.
func (p *pass) switchingOver() {
	if !p.keeps() {
		return
	}
	p.adopt()
	if !p.each((*pass).takeSnapshot, (*pass).relocateTarget) {
		p.rollBackWhenLate()
		return
	}
	if p.confirmed() {
		p.to(v1beta2.UpgradeStateDetachingReplicas)
	}
}

// detachingReplicas takes the node's replicas out of their engines, each only while a healthy one is left elsewhere.
func (p *pass) detachingReplicas() {
	if !p.keeps() {
		return
	}
	p.adopt()
	if !p.each((*pass).takeSnapshot, (*pass).relocateTarget, (*pass).detachReplica) {
		p.rollBackWhenLate()
		return
	}
	if !p.confirmed() {
		return
	}
	p.to(v1beta2.UpgradeStateUpgradingInstanceManager)
	p.status.OldInstanceManager = reference(p.node.Old(p.target()))
}

func reference(m *v1beta2.InstanceManager) *v1beta2.InstanceManagerReference {
	if m == nil {
		return nil
	}
	return &v1beta2.InstanceManagerReference{Name: m.Name, UID: string(m.UID)}
}

// upgradingInstanceManager waits until the instance manager of the new image answers. While the old one is untouched the
// upgrade can still be rolled back. After that it only continues, and reports what it waits for, unless the node is gone with all that
// ran there.
func (p *pass) upgradingInstanceManager() {
	if p.node.Object == nil {
		if p.confirmed() {
			p.rollBack(fmt.Sprintf("Node %s does not exist any more.", p.nodeID()))
		}
		return
	}
	if p.node.Runs(p.target()) && p.node.Manager(p.status.OldInstanceManager) == nil {
		if why := p.node.DiskNotReady(p.node.Running().Name); why != "" {
			p.cordoned()
			p.each((*pass).relocateTarget)
			p.wait(v1beta2.ReasonWaitingForDisk,
				fmt.Sprintf("Node %s: %s. The new instance manager has no replica before its disk is loaded; see the Node's status.",
					p.nodeID(), why))
			return
		}
		p.to(v1beta2.UpgradeStateSwitchingBack)
		return
	}
	p.cordoned()
	untouched := cluster.Untouched(p.node.Manager(p.status.OldInstanceManager))
	if untouched {
		p.adopt()
		p.each((*pass).takeSnapshot, (*pass).relocateTarget, (*pass).detachReplica)
	} else {
		p.each((*pass).relocateTarget)
		p.follow()
	}
	p.wait(v1beta2.ReasonWaitingForInstanceManager,
		fmt.Sprintf("Node %s: the instance manager of %s does not run yet.", p.nodeID(), p.target()))
	if !untouched {
		return
	}
	if why := p.endReason(); why != "" && p.confirmed() {
		p.rollBack(why)
	} else if p.late() && p.confirmed() {
		p.rollBackWhenLate()
	}
}

// follow names an instance manager that replaced the old one, for example after a person deleted that one.
func (p *pass) follow() {
	if old := p.node.Old(p.target()); cluster.Untouched(old) {
		p.status.OldInstanceManager = reference(old)
	}
}
