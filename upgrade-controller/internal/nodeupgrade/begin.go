package nodeupgrade

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/preflight"
)

// undefined touches nothing: it waits for its turn, and for whatever stands against the upgrade to go away.
func (p *pass) undefined() {
	if p.status.StartedAt == "" {
		p.status.OwnerID, p.status.StartedAt = Owner, stamp(p.Now)
		p.status.State = v1beta2.UpgradeStateUndefined
	}
	if p.status.StateSince == "" {
		p.status.StateSince = stamp(p.Now)
	}
	if why := p.givenUp(); why != "" {
		p.fail(why)
		return
	}
	if p.Upgrade.Spec.DataEngine != v1beta2.DataEngineV2 {
		p.wait(v1beta2.ReasonNotUnderstood, fmt.Sprintf("Data engine %q is not known to this version of upgrade-controller.", p.Upgrade.Spec.DataEngine))
		return
	}
	if other := p.other(); other != "" {
		p.status.StateSince = "" // its time does not run
		p.wait(v1beta2.ReasonWaitingForUpgrade, fmt.Sprintf("NodeDataEngineUpgrade %s came first.", other))
		return
	}
	if p.Manager.Spec.Paused {
		p.status.StateSince = ""
		p.wait(v1beta2.ReasonPaused, fmt.Sprintf("DataEngineUpgradeManager %s is paused; set spec.paused to false.", p.Manager.Name))
		return
	}
	if p.node.Exists() && p.node.Upgraded(p.target()) {
		p.complete()
		return
	}
	if p.blocked() {
		if p.late() {
			p.fail(p.message)
		}
		return
	}
	if p.confirmed() {
		p.to(v1beta2.UpgradeStateInitializing)
	}
}

// other is an upgrade of a node that is under way, or whose turn is before this one's.
func (p *pass) other() string {
	for _, o := range p.Others {
		sooner := !Ended(o.Status.State) && (o.CreationTimestamp.Time.Before(p.Upgrade.CreationTimestamp.Time) ||
			o.CreationTimestamp.Time.Equal(p.Upgrade.CreationTimestamp.Time) && o.Name < p.Upgrade.Name)
		if begun(o.Status.State) || sooner {
			return o.Name
		}
	}
	return ""
}

// blocked tells that something stands against the upgrade.
func (p *pass) blocked() bool {
	found := preflight.Blockers(preflight.World{
		Node: p.nodeID(), Cluster: p.Cluster, Target: p.target(), Skip: p.Manager.Spec.SkipVolumes,
	})
	if len(found) == 0 {
		p.preflight = &v1beta2.Condition{Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonPassed,
			Message: fmt.Sprintf("Nothing stands against the upgrade of node %s.", p.nodeID())}
		return false
	}
	p.preflight = &v1beta2.Condition{Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonUpgradeBlocked, Message: preflight.Sentence(found)}
	p.wait(v1beta2.ReasonUpgradeBlocked, preflight.Sentence(found))
	return true
}

// initializing closes the node, looks at every volume anew, asks the blockers again and takes the snapshots.
func (p *pass) initializing() {
	if p.leaves() || !p.closed() {
		return
	}
	p.adopt()
	if !p.looked() || p.blocked() || !p.each((*pass).snapshotted) {
		p.giveUpWhenLate()
		return
	}
	if p.confirmed() {
		p.to(v1beta2.UpgradeStateSwitchingOver)
	}
}

// leaves rolls back where the upgrade shall end.
func (p *pass) leaves() bool {
	why := p.givenUp()
	if why != "" {
		p.rollBack(why)
	}
	return why != ""
}

// giveUpWhenLate rolls back a step that takes too long.
func (p *pass) giveUpWhenLate() {
	if p.late() {
		p.rollBack(fmt.Sprintf("Gave up in state %s after %s. %s", p.observed, Timeout(p.Manager, p.observed), p.message))
	}
}

// looked asks for a look at every volume in use that is no older than the state, and tells that there was one.
func (p *pass) looked() bool {
	all := true
	for _, name := range p.volumes() {
		if v, ok := p.Cluster.Volumes[name]; ok && v.On(p.nodeID()) && v.Active() != nil {
			all = p.lookedAt(name) && all
		}
	}
	return all
}

func (p *pass) lookedAt(volume string) bool {
	v := p.Cluster.Volumes[volume]
	if v.LookedSince(p.since()) {
		return true
	}
	if engine := v.Active(); engine != nil && !v.LookAsked(p.since()) {
		p.effect(Effect{Kind: AskLook, Name: engine.Name, Volume: volume, At: p.Now})
	}
	return p.waits(volume, p.status.Volumes[volume].State, v1beta2.ReasonWaitingForLook, "its engine has to be looked at first.")
}
