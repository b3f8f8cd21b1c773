package nodeupgrade

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// adopt lists the volumes that use the node and are not listed yet.
func (p *pass) adopt() {
	for _, name := range p.Cluster.On(p.nodeID()) {
		if x, listed := p.status.Volumes[name]; listed && x.State != v1beta2.VolumeUpgradeReleased {
			continue
		}
		if p.status.Volumes == nil {
			p.status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{}
		}
		x := p.status.Volumes[name]
		x.State, x.Message, x.OriginalNodeID = v1beta2.VolumeUpgradeWaiting, "", ""
		if p.Cluster.Volumes[name].EngineOn(p.nodeID()) {
			x.OriginalNodeID = p.nodeID()
		}
		p.status.Volumes[name] = x
	}
}

// each applies the steps to every listed volume that is in use, one after the other until a step has to wait,
// and counts the volumes of which all steps are done.
func (p *pass) each(questions ...func(*pass, string) bool) bool {
	p.done, p.all, p.gone = 0, 0, 0
	for _, name := range p.volumes() {
		if p.released(name) {
			p.gone++
			continue
		}
		p.all++
		if !slices.ContainsFunc(questions, func(well func(*pass, string) bool) bool { return !well(p, name) }) {
			p.done++
		}
	}
	return p.done == p.all
}

// released reports whether the volume is not in use any more because its user detached it; spec.targetNodeID is then cleared.
func (p *pass) released(name string) bool {
	v, exists := p.Cluster.Volumes[name]
	if exists && (v.Attached() || v.Settling()) {
		return false
	}
	if exists {
		p.setTarget(v, "")
	}
	p.mark(name, v1beta2.VolumeUpgradeReleased, "")
	return true
}

// setTarget sets the volume's spec.targetNodeID; "" switches the target back.
func (p *pass) setTarget(v cluster.Volume, node string) {
	if v.Object.Spec.TargetNodeID != node {
		p.effect(Effect{Kind: SetTarget, Name: v.Object.Name, Volume: v.Object.Name, Node: node})
	}
}

// takeSnapshot takes the volume's snapshot, once, and reports whether it can be used.
func (p *pass) takeSnapshot(name string) bool {
	x := p.status.Volumes[name]
	if x.State != v1beta2.VolumeUpgradeWaiting {
		return true
	}
	if x.Snapshot == "" {
		x.Snapshot = snapshotName(p.Upgrade, name)
		p.status.Volumes[name] = x
		return p.waits(name, x.State, v1beta2.ReasonWaitingForSnapshot, "its snapshot "+x.Snapshot+" is being created.")
	}
	snapshot := p.Snapshots[x.Snapshot]
	switch {
	case snapshot == nil:
		p.effect(Effect{Kind: TakeSnapshot, Name: x.Snapshot, Volume: name})
	case snapshot.Status.ReadyToUse:
		p.mark(name, v1beta2.VolumeUpgradeReady, "")
		return true
	case snapshot.Status.Error != "":
		why := fmt.Sprintf("snapshot %s is not ready: %s", x.Snapshot, snapshot.Status.Error)
		p.waits(name, x.State, v1beta2.ReasonWaitingForSnapshot, why)
		p.mark(name, x.State, why)
		return false
	}
	return p.waits(name, x.State, v1beta2.ReasonWaitingForSnapshot,
		fmt.Sprintf("snapshot %s is not ready; snapshot-controller and im-monitor take it.", x.Snapshot))
}

// snapshotName is the same for every pass of an upgrade, and another for the next upgrade.
func snapshotName(u *v1beta2.NodeDataEngineUpgrade, volume string) string {
	sum := sha256.Sum256([]byte(string(u.UID) + "/" + volume))
	return "upgrade-" + hex.EncodeToString(sum[:8])
}

// relocateTarget moves the volume's target from the node: to a temporary node while the volume is attached here, back to its own node while
// the volume is attached elsewhere. A temporary node that does not serve any more is replaced by another one, if necessary by one that a
// person keeps free, since the target runs nowhere meanwhile.
func (p *pass) relocateTarget(name string) bool {
	v, x := p.Cluster.Volumes[name], p.status.Volumes[name]
	if v.Holder() != p.nodeID() {
		p.setTarget(v, "")
		if v.EngineOn(p.nodeID()) {
			return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTarget, "its target leaves the node.")
		}
		p.markRelocated(name)
		return true
	}
	planned := x.TemporaryNodeID
	if planned == "" || !p.Cluster.Nodes[planned].Serves() {
		chosen := p.Cluster.Temporary(v, p.nodeID(), p.target(), p.coming(), planned != "" && !v.EngineOn(p.nodeID()))
		if chosen == "" {
			why := "no other node can hold its target meanwhile: another node must be ready and have a running v2 instance manager"
			if free := p.Cluster.KeptFree(p.nodeID()); free != "" {
				why += "; left out are " + free
			}
			return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTemporaryNode, why+".")
		}
		x.TemporaryNodeID = chosen
		p.status.Volumes[name] = x
		return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTarget, "its target moves to node "+chosen+".")
	}
	p.setTarget(v, planned)
	if !v.At(planned) || v.EngineOn(p.nodeID()) || v.Settling() {
		return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTarget, "its target goes to node "+planned+".")
	}
	p.markRelocated(name)
	return true
}

// coming counts the targets that this upgrade has relocated to each node, or is about to, and that do not run there yet.
func (p *pass) coming() map[string]int {
	out := map[string]int{}
	for name, x := range p.status.Volumes {
		if v, exists := p.Cluster.Volumes[name]; exists && x.TemporaryNodeID != "" && !v.TargetOn(x.TemporaryNodeID) {
			out[x.TemporaryNodeID]++
		}
	}
	return out
}

// Chooses reports whether a decision may choose a temporary node, so that it has to know how many targets each node has.
func Chooses(u *v1beta2.NodeDataEngineUpgrade, c cluster.Cluster) bool {
	switch u.Status.State {
	case v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager,
		v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRollingBack:
	default:
		return false
	}
	for name, v := range c.Volumes {
		planned := u.Status.Volumes[name].TemporaryNodeID
		if v.Holder() == u.Spec.NodeID && (planned == "" || !c.Nodes[planned].Serves()) {
			return true
		}
	}
	return false
}

// markRelocated marks the volume as relocated, unless it is further already.
func (p *pass) markRelocated(name string) {
	switch p.status.Volumes[name].State {
	case v1beta2.VolumeUpgradeDetached:
	default:
		p.mark(name, v1beta2.VolumeUpgradeAway, "")
	}
}

// detachReplica has the volume's replica detached: it lists the replica on the node once a poll shows that a healthy one is left on another
// node, and reports whether the replica has left. A listing is removed if no healthy one is left any more and the replica is still used.
func (p *pass) detachReplica(name string) bool {
	v, x := p.Cluster.Volumes[name], p.status.Volumes[name]
	lastCopy := p.Cluster.HealthyBeside(v, p.nodeID()) == 0
	if x.Replica == "" || v.Replica(x.Replica) == nil {
		return p.listReplica(name, lastCopy)
	}
	replica := v.Replica(x.Replica)
	used := v.Mapped(x.Replica)
	if !used && len(v.ReplicasOn(p.nodeID())) == 0 {
		p.mark(name, v1beta2.VolumeUpgradeDetached, "")
		return true
	}
	if used && lastCopy {
		x.Replica = ""
		p.status.Volumes[name] = x
		return p.waits(name, x.State, v1beta2.ReasonWaitingForHealthyCopy,
			"no replica elsewhere is healthy; the one on the node stays until one was rebuilt elsewhere.")
	}
	leaving := x.Replica
	if on := v.ReplicasOn(p.nodeID()); !used && len(on) > 0 && on[0].Name != replica.Name {
		x.Replica, leaving = "", on[0].Name
		p.status.Volumes[name] = x
	}
	return p.waits(name, x.State, v1beta2.ReasonDetachingReplica, "replica "+leaving+" leaves its engine and stops.")
}

// listReplica names the volume's replica on the node for attach-controller to take out; there may be none.
func (p *pass) listReplica(name string, lastCopy bool) bool {
	v, x := p.Cluster.Volumes[name], p.status.Volumes[name]
	x.Replica = ""
	p.status.Volumes[name] = x
	on := v.ReplicasOn(p.nodeID())
	if len(on) == 0 {
		p.mark(name, v1beta2.VolumeUpgradeDetached, "")
		return true
	}
	if !p.pollEngine(name) {
		return false
	}
	if lastCopy {
		return p.waits(name, x.State, v1beta2.ReasonWaitingForHealthyCopy,
			"no replica elsewhere is healthy; the one on the node stays until one was rebuilt elsewhere.")
	}
	if p.confirmedVolume(name) {
		x.Replica = on[0].Name
		p.status.Volumes[name] = x
	}
	return p.waits(name, x.State, v1beta2.ReasonDetachingReplica, "replica "+on[0].Name+" must leave its engine and stop.")
}
