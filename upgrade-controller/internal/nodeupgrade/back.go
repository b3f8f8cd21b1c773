package nodeupgrade

import (
	"cmp"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
)

// switchingBack switches every target back; a roll back is no longer possible. If the node is gone, volumes attached there wait.
func (p *pass) switchingBack() {
	if p.node.Exists() {
		p.cordoned()
	}
	if p.each((*pass).switchBack) {
		p.to(v1beta2.UpgradeStateRebuildingReplica)
		p.status.ProgressedAt = ""
	}
}

// switchBack switches the volume's target to the node where the volume is attached, once that node can hold it. Until then the target stays
// on its temporary node, or another one.
func (p *pass) switchBack(name string) bool {
	v := p.Cluster.Volumes[name]
	switch here := v.Holder() == p.nodeID(); {
	case here && p.status.Volumes[name].TemporaryNodeID == "":
		return p.leaveTarget(name)
	case here && !p.node.Serves() && v.Object.Spec.TargetNodeID != "":
		if p.relocateTarget(name) {
			p.waits(name, v1beta2.VolumeUpgradeAway, v1beta2.ReasonWaitingForInstanceManager, p.whyNotServing())
		}
		return false
	case here:
		p.setTarget(v, "")
		if !v.AtOriginalNode() || v.Settling() {
			return p.waits(name, v1beta2.VolumeUpgradeReturning, v1beta2.ReasonWaitingForTarget, "its target is switched back to node "+
				v.Holder()+
				".")
		}
	default:
		p.setTarget(v, "")
		if !v.Left(p.nodeID()) {
			return p.waits(name, v1beta2.VolumeUpgradeReturning, v1beta2.ReasonWaitingForTarget, "its target goes to node "+v.Holder()+
				", where it is attached.")
		}
	}
	p.mark(name, v1beta2.VolumeUpgradeHome, "")
	return true
}

// leaveTarget leaves a target alone that this upgrade did not relocate. It does not wait until the target serves: a volume that is about
// to be attached waits for the node to be uncordoned.
func (p *pass) leaveTarget(name string) bool {
	message := ""
	if p.Cluster.Volumes[name].Object.Spec.TargetNodeID != "" {
		message = "Its target stays on the node that spec.targetNodeID names, which this upgrade did not set."
	}
	p.mark(name, v1beta2.VolumeUpgradeHome, message)
	return true
}

// whyNotServing explains why the node cannot hold targets.
func (p *pass) whyNotServing() string {
	if p.node.Exists() {
		return "node " + p.nodeID() + " cannot hold its target yet."
	}
	return "node " + p.nodeID() + ", where it is attached, is gone: bring the node back, or detach the volume."
}

// rebuildingReplica uncordons the node and waits until every volume is healthy again. It fails only after a time in
// which no rebuild made progress.
func (p *pass) rebuildingReplica() {
	uncordoned := p.uncordoned()
	rebuilt := p.each((*pass).awaitRebuild)
	switch {
	case uncordoned && rebuilt:
		p.complete()
	case uncordoned && p.late():
		p.fail(fmt.Sprintf("The node is upgraded, but no rebuild progressed for %s. %s %s", p.timeout(), p.message,
			p.next()))
	}
}

// awaitRebuild records how far the volume's replicas are rebuilt, and reports whether the volume is healthy.
func (p *pass) awaitRebuild(name string) bool {
	v, x := p.Cluster.Volumes[name], p.status.Volumes[name]
	if v.Healthy() {
		x.Progress, x.Rebuilt = 100, 0
		p.status.Volumes[name] = x
		p.mark(name, v1beta2.VolumeUpgradeDone, "")
		return true
	}
	// A step of ten per cent is written at once, a smaller one only after a while: a large volume does not time out, and costs no more
	// writes. Each per cent of one replica counts, which the per cent of all may round away.
	rebuilt, replicas := v.RebuiltInAll()
	known := cmp.Or(x.Rebuilt, x.Progress*replicas)
	if rebuilt >= known+10*replicas || rebuilt > known && p.Now.Sub(p.progressedAt()) > Timeout(p.Manager, p.observed)/10 {
		x.Progress, x.Rebuilt, p.status.ProgressedAt = rebuilt/replicas, rebuilt, stamp(p.Now)
	}
	p.status.Volumes[name] = x
	return p.waits(name, v1beta2.VolumeUpgradeRebuilding, v1beta2.ReasonWaitingForRebuild,
		fmt.Sprintf("its robustness is %q, its replicas are rebuilt to %d %% in all.", v.Object.Status.Robustness, x.Progress))
}

// rollingBack switches every target back and uncordons the node. If the instance manager was replaced after all, the upgrade continues
// forward.
func (p *pass) rollingBack() {
	if p.status.OldInstanceManager != nil && p.node.Manager(p.status.OldInstanceManager) == nil && p.node.Runs(p.target()) {
		p.to(v1beta2.UpgradeStateSwitchingBack)
		p.status.ErrorMessage = ""
		return
	}
	if p.each((*pass).switchBack) && p.uncordoned() {
		p.fail(p.status.ErrorMessage)
	}
}

func (p *pass) complete() {
	p.to(v1beta2.UpgradeStateCompleted)
	p.status.ErrorMessage, p.status.CompletedAt = "", stamp(p.Now)
}

// ended leaves nothing behind: it uncordons the node and deletes snapshots that are not to be kept. An upgrade that never had a volume
// uncordons nothing: the upgrade that cordoned the node may have left targets relocated, which are switched back first (package leftover).
func (p *pass) ended() {
	clean, unseen := len(p.status.Volumes) == 0 || p.uncordoned(), false
	if p.Manager == nil || !p.Manager.Spec.KeepSnapshots {
		dropped, missing := p.dropSnapshots()
		clean, unseen = clean && !dropped, missing
	}
	// A snapshot that the cache does not show is gone, or was only just ordered.
	p.verdict.DropFinalizer = clean && p.Upgrade.DeletionTimestamp != nil && (!unseen || p.confirmed())
}

// dropSnapshots deletes the snapshots, and reports whether there are some to delete, and whether one was not seen. One whose data clones
// share or copy stays, and is reported: the webhook of snapshot-controller refuses its deletion as long as they live, and the finalizer
// does not wait for that.
func (p *pass) dropSnapshots() (dropped, unseen bool) {
	var kept []string
	for _, name := range p.volumes() {
		recorded := p.status.Volumes[name].Snapshot
		switch snapshot, clones := p.Snapshots[recorded], p.Clones[recorded]; {
		case snapshot == nil:
			unseen = unseen || recorded != ""
		case snapshot.DeletionTimestamp != nil:
		case len(clones) > 0:
			kept = append(kept, fmt.Sprintf("%s (%s)", recorded, preflight.Names(clones)))
		default:
			p.effect(Effect{Kind: DropSnapshot, Name: snapshot.Name, Volume: name})
			dropped = true
		}
	}
	if len(kept) > 0 {
		p.verdict.Kept = fmt.Sprintf("Snapshots stay while volumes that were cloned from them share or copy their data: %s.",
			preflight.Names(kept))
	}
	return dropped, unseen
}
