package nodeupgrade

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// Owner is the controller that drives upgrades.
const Owner = "upgrade-controller"

// pass is one decision: it builds the wanted status.
type pass struct {
	World
	// observed is the state that was read; node is the upgraded node as it was read.
	observed string
	node     cluster.Node
	verdict  Verdict
	status   *v1beta2.NodeDataEngineUpgradeStatus
	// reason and message state what the upgrade waits for; others is how many volumes wait beside the first.
	reason, message string
	others          int
	// volume is the first volume that waits; done of all volumes have done the step, and gone are those that are not in use any more.
	volume          string
	done, all, gone int
	// preflight is the result of the blockers, nil if they were not checked.
	preflight *v1beta2.Condition
}

// Decide returns what to do next. A state that this version does not know is left alone.
func Decide(w World) Verdict {
	p := &pass{World: w, observed: w.Upgrade.Status.State, node: w.Cluster.Nodes[w.Upgrade.Spec.NodeID]}
	p.verdict.Status = *w.Upgrade.Status.DeepCopy()
	p.status = &p.verdict.Status
	if p.observed == "" {
		p.observed = v1beta2.UpgradeStateUndefined
	}
	step, known := steps[p.observed]
	if !known {
		return p.verdict
	}
	if w.Upgrade.DeletionTimestamp == nil && !Ended(p.observed) && !slices.Contains(w.Upgrade.Finalizers, v1beta2.Finalizer) {
		return Verdict{AddFinalizer: true, Status: w.Upgrade.Status}
	}
	step(p)
	switch {
	case p.verdict.Confirm:
		return Verdict{Confirm: true}
	case len(p.verdict.ConfirmVolumes) > 0 && len(p.FreshVolumes) == 0:
		return Verdict{ConfirmVolumes: p.verdict.ConfirmVolumes}
	}
	p.conclude()
	return p.verdict
}

var steps = map[string]func(*pass){
	v1beta2.UpgradeStateUndefined:                (*pass).undefined,
	v1beta2.UpgradeStateInitializing:             (*pass).initializing,
	v1beta2.UpgradeStateSwitchingOver:            (*pass).switchingOver,
	v1beta2.UpgradeStateDetachingReplicas:        (*pass).detachingReplicas,
	v1beta2.UpgradeStateUpgradingInstanceManager: (*pass).upgradingInstanceManager,
	v1beta2.UpgradeStateSwitchingBack:            (*pass).switchingBack,
	v1beta2.UpgradeStateRebuildingReplica:        (*pass).rebuildingReplica,
	v1beta2.UpgradeStateRollingBack:              (*pass).rollingBack,
	v1beta2.UpgradeStateCompleted:                (*pass).ended,
	v1beta2.UpgradeStateError:                    (*pass).ended,
}

func (p *pass) target() string { return p.Upgrade.Spec.InstanceManagerImage }

func (p *pass) nodeID() string { return p.Upgrade.Spec.NodeID }

// confirmed requires uncached reads before a step that cannot be undone.
func (p *pass) confirmed() bool {
	if !p.Fresh {
		p.verdict.Confirm = true
	}
	return p.Fresh
}

// confirmedVolume requires uncached reads of one volume before a step of it that cannot be undone.
func (p *pass) confirmedVolume(name string) bool {
	if p.Fresh || p.FreshVolumes[name] {
		return true
	}
	p.verdict.ConfirmVolumes = append(p.verdict.ConfirmVolumes, name)
	return false
}

func (p *pass) to(state string) {
	p.status.State, p.status.StateSince = state, stamp(p.Now)
	p.reason, p.message, p.others = "", "", 0
	p.volume, p.done, p.all, p.gone, p.status.Furthest = "", 0, 0, 0, 0
}

// rollBack ends the upgrade before the instance manager is replaced. The effects of the step that ends are dropped, because one that the
// API server refuses must not keep the state from being stored. State rolling-back decides on its own.
func (p *pass) rollBack(why string) {
	p.to(v1beta2.UpgradeStateRollingBack)
	p.status.ErrorMessage, p.verdict.Effects = why, nil
}

func (p *pass) fail(why string) {
	p.to(v1beta2.UpgradeStateError)
	p.status.ErrorMessage, p.status.CompletedAt = why, stamp(p.Now)
}

// wait records what the upgrade waits for: the first is reported, the others are counted.
func (p *pass) wait(reason, message string) {
	if p.reason != "" {
		p.others++
		return
	}
	p.reason, p.message = reason, message
}

// ordinary are the reasons that a volume's state states already. Their messages are not stored for each volume: status.volumes has an
// entry for every volume of the node, and each write of it is decoded by every controller that follows the upgrade.
var ordinary = map[string]bool{
	v1beta2.ReasonWaitingForLook: true, v1beta2.ReasonWaitingForSnapshot: true, v1beta2.ReasonWaitingForTarget: true,
	v1beta2.ReasonDetachingReplica: true, v1beta2.ReasonWaitingForRebuild: true,
}

// waits records what a volume waits for.
func (p *pass) waits(volume, state, reason, message string) bool {
	stored := message
	if ordinary[reason] {
		stored = ""
	}
	p.mark(volume, state, stored)
	if p.reason == "" {
		p.volume = volume
	}
	p.wait(reason, fmt.Sprintf("Volume %s: %s", volume, message))
	return false
}

func (p *pass) mark(volume, state, message string) {
	x := p.status.Volumes[volume]
	x.State, x.Message = state, message
	p.status.Volumes[volume] = x
}

func (p *pass) effect(e Effect) { p.verdict.Effects = append(p.verdict.Effects, e) }

// volumes are the names in the status, sorted.
func (p *pass) volumes() []string { return slices.Sorted(maps.Keys(p.status.Volumes)) }

// endReason is why the upgrade must end, "" if it must continue.
func (p *pass) endReason() string {
	switch {
	case p.Upgrade.DeletionTimestamp != nil:
		return "This NodeDataEngineUpgrade was deleted."
	case p.Manager == nil || p.Manager.DeletionTimestamp != nil:
		return fmt.Sprintf("DataEngineUpgradeManager %s was deleted.", p.Upgrade.Spec.DataEngineUpgradeManager)
	case p.Manager.Spec.Abort:
		return fmt.Sprintf("DataEngineUpgradeManager %s was aborted.", p.Manager.Name)
	}
	return ""
}

// cordoned cordons the node for new volumes, and reports whether it is cordoned.
func (p *pass) cordoned() bool {
	if p.node.Exists() && p.node.Object.Spec.UpgradeRequested {
		return true
	}
	if !p.node.Exists() {
		p.wait(v1beta2.ReasonTakingNode, fmt.Sprintf("Node %s is gone, or is being deleted: restore it, or set spec.abort of "+
			"DataEngineUpgradeManager %s.",
			p.nodeID(), p.Upgrade.Spec.DataEngineUpgradeManager))
		return false
	}
	p.effect(Effect{Kind: CloseNode, Name: p.nodeID()})
	p.wait(v1beta2.ReasonTakingNode, fmt.Sprintf("Node %s is being cordoned for new volumes.", p.nodeID()))
	return false
}

// uncordoned uncordons the node, and reports whether it is uncordoned. A node that is gone counts as uncordoned. A node that is cordoned
// for another upgrade by now is left alone.
func (p *pass) uncordoned() bool {
	if p.node.Object == nil || !p.node.Object.Spec.UpgradeRequested {
		return true
	}
	for _, o := range p.Others {
		if o.Spec.NodeID == p.nodeID() && Begun(o.Status.State) {
			return true
		}
	}
	if !p.confirmed() {
		return false
	}
	p.effect(Effect{Kind: OpenNode, Name: p.nodeID()})
	p.wait(v1beta2.ReasonTakingNode, fmt.Sprintf("Node %s is being uncordoned.", p.nodeID()))
	return false
}
