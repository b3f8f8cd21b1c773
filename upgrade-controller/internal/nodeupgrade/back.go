package nodeupgrade

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// switchingBack brings every target home; there is no way but forward. Of a node that is gone, those that are attached there wait.
func (p *pass) switchingBack() {
	if p.node.Exists() {
		p.closed()
	}
	if p.each((*pass).home) {
		p.to(v1beta2.UpgradeStateRebuildingReplica)
		p.status.ProgressedAt = ""
	}
}

// home brings the volume's target back to where the volume is attached, once that node can hold it; until then it stays
// at its temporary node, or another one.
func (p *pass) home(name string) bool {
	v := p.Cluster.Volumes[name]
	switch here := v.Holder() == p.nodeID(); {
	case here && p.status.Volumes[name].TemporaryNodeID == "":
		return p.neverSent(name)
	case here && !p.node.Serves() && v.Object.Spec.TargetNodeID != "":
		if p.moved(name) {
			p.waits(name, v1beta2.VolumeUpgradeAway, v1beta2.ReasonWaitingForInstanceManager, p.cannotHold())
		}
		return false
	case here:
		p.send(v, "")
		if !v.AtOriginalNode() || v.Settling() {
			return p.waits(name, v1beta2.VolumeUpgradeReturning, v1beta2.ReasonWaitingForTarget, "its target goes home to node "+v.Holder()+
				".")
		}
	default:
		p.send(v, "")
		if !v.Left(p.nodeID()) {
			return p.waits(name, v1beta2.VolumeUpgradeReturning, v1beta2.ReasonWaitingForTarget, "its target goes to node "+v.Holder()+
				", where it is attached.")
		}
	}
	p.mark(name, v1beta2.VolumeUpgradeHome, "")
	return true
}

// neverSent lets a target be that this upgrade sent nowhere. Whether it serves is not waited for: a volume that is about to be attached
// waits for the node to be opened.
func (p *pass) neverSent(name string) bool {
	message := ""
	if p.Cluster.Volumes[name].Object.Spec.TargetNodeID != "" {
		message = "Its target stays where somebody else wishes it."
	}
	p.mark(name, v1beta2.VolumeUpgradeHome, message)
	return true
}

// cannotHold says why the node cannot hold targets.
func (p *pass) cannotHold() string {
	if p.node.Exists() {
		return "node " + p.nodeID() + " cannot hold its target yet."
	}
	return "node " + p.nodeID() + ", where it is attached, is gone: bring the node back, or detach the volume."
}

// rebuildingReplica opens the node and waits until every volume is healthy again. It is given up only after a time in
// which no rebuild went on.
func (p *pass) rebuildingReplica() {
	open := p.opened()
	whole := p.each((*pass).whole)
	switch {
	case open && whole:
		p.complete()
	case open && p.late():
		p.fail(fmt.Sprintf("The node is upgraded, but no rebuild went on for %s. %s %s", Timeout(p.Manager, p.observed), p.message,
			p.next()))
	}
}

func (p *pass) whole(name string) bool {
	v, x := p.Cluster.Volumes[name], p.status.Volumes[name]
	if v.Whole() {
		x.Progress = 100
		p.status.Volumes[name] = x
		p.mark(name, v1beta2.VolumeUpgradeDone, "")
		return true
	}
	// Ten per cent are told at once, less only when nothing else was for a while: a large volume is not given up, and costs no more writes.
	rebuilt := v.RebuiltInAll()
	if rebuilt >= x.Progress+10 || rebuilt > x.Progress && p.Now.Sub(p.progressedAt()) > Timeout(p.Manager, p.observed)/10 {
		x.Progress, p.status.ProgressedAt = rebuilt, stamp(p.Now)
	}
	p.status.Volumes[name] = x
	return p.waits(name, v1beta2.VolumeUpgradeRebuilding, v1beta2.ReasonWaitingForRebuild,
		fmt.Sprintf("its robustness is %q, its replicas are rebuilt to %d %% in all.", v.Object.Status.Robustness, x.Progress))
}

// rollingBack brings every target home and opens the node. An instance manager that was replaced after all is gone on
// with.
func (p *pass) rollingBack() {
	if p.status.OldInstanceManager != nil && p.node.Manager(p.status.OldInstanceManager) == nil && p.node.Runs(p.target()) {
		p.to(v1beta2.UpgradeStateSwitchingBack)
		p.status.ErrorMessage = ""
		return
	}
	if p.each((*pass).home) && p.opened() {
		p.fail(p.status.ErrorMessage)
	}
}

func (p *pass) complete() {
	p.to(v1beta2.UpgradeStateCompleted)
	p.status.ErrorMessage, p.status.CompletedAt = "", stamp(p.Now)
}

// ended leaves nothing behind: the node open, and no snapshot that nobody wants to keep. One that never had a volume opens nothing: who
// closed the node may have left targets away, which come home first (package leftover).
func (p *pass) ended() {
	clean := len(p.status.Volumes) == 0 || p.opened()
	if p.Manager == nil || !p.Manager.Spec.KeepSnapshots {
		for _, name := range p.volumes() {
			snapshot := p.Snapshots[p.status.Volumes[name].Snapshot]
			if snapshot != nil && snapshot.DeletionTimestamp == nil {
				p.effect(Effect{Kind: DropSnapshot, Name: snapshot.Name, Volume: name})
				clean = false
			}
		}
	}
	p.verdict.DropFinalizer = clean && p.Upgrade.DeletionTimestamp != nil
}
