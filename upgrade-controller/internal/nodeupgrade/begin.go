package nodeupgrade

import (
	"fmt"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/preflight"
)

// undefined changes nothing: it waits until earlier upgrades have ended, and until nothing blocks the upgrade.
func (p *pass) undefined() {
	if p.status.StartedAt == "" {
		p.status.OwnerID, p.status.StartedAt = Owner, stamp(p.Now)
		p.status.State = v1beta2.UpgradeStateUndefined
	}
	if p.status.StateSince == "" {
		p.status.StateSince = stamp(p.Now)
	}
	if why := p.endReason(); why != "" {
		p.fail(why)
		return
	}
	if p.Upgrade.Spec.DataEngine != v1beta2.DataEngineV2 {
		p.wait(v1beta2.ReasonNotUnderstood, fmt.Sprintf("Data engine %q is not known to this version of upgrade-controller. Update "+
			"upgrade-controller.", p.Upgrade.Spec.DataEngine))
		return
	}
	if other := p.other(); other != "" {
		p.status.StateSince = "" // its time does not run
		p.wait(v1beta2.ReasonWaitingForUpgrade,
			fmt.Sprintf("NodeDataEngineUpgrade %s is earlier: wait until it ends, or delete it.", other))
		return
	}
	if p.Manager.Spec.Paused {
		p.status.StateSince = ""
		p.wait(v1beta2.ReasonPaused, fmt.Sprintf("DataEngineUpgradeManager %s is paused; set spec.paused to false.", p.Manager.Name))
		return
	}
	if p.node.Exists() && p.node.Object.Spec.UpgradeRequested {
		p.wait(v1beta2.ReasonTakingNode, fmt.Sprintf("Node %s is still cordoned by an earlier upgrade whose object is gone: its targets "+
			"are switched back and it is uncordoned first.", p.nodeID()))
		return
	}
	if p.node.Exists() && p.node.Upgraded(p.target()) {
		if p.confirmed() {
			p.complete()
		}
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

// other is an upgrade of a node that is under way, or that is queued before this one.
func (p *pass) other() string {
	for _, o := range p.Others {
		sooner := !Ended(o.Status.State) && (o.CreationTimestamp.Time.Before(p.Upgrade.CreationTimestamp.Time) ||
			o.CreationTimestamp.Time.Equal(p.Upgrade.CreationTimestamp.Time) && o.Name < p.Upgrade.Name)
		if Begun(o.Status.State) || sooner {
			return o.Name
		}
	}
	return ""
}

// blocked reports whether something blocks the upgrade.
func (p *pass) blocked() bool {
	found := preflight.Blockers(preflight.World{
		Node: p.nodeID(), Cluster: p.Cluster, Target: p.target(), Skip: p.Manager.Spec.SkipVolumes, Own: p.ownSnapshots(),
	})
	if len(found) == 0 {
		p.preflight = &v1beta2.Condition{Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonPassed,
			Message: fmt.Sprintf("Nothing blocks the upgrade of node %s.", p.nodeID())}
		return false
	}
	p.preflight = &v1beta2.Condition{Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonUpgradeBlocked,
		Message: preflight.Sentence(found)}
	p.wait(v1beta2.ReasonUpgradeBlocked, preflight.Sentence(found))
	return true
}

// ownSnapshots are those that this upgrade takes, by volume.
func (p *pass) ownSnapshots() map[string]string {
	out := map[string]string{}
	for name, x := range p.status.Volumes {
		if x.Snapshot != "" {
			out[name] = x.Snapshot
		}
	}
	return out
}

// initializing cordons the node, polls the engine of every volume again, checks the blockers again and takes the snapshots.
func (p *pass) initializing() {
	if !p.keeps() {
		return
	}
	p.adopt()
	if !p.polled() || p.blocked() || !p.each((*pass).takeSnapshot) {
		p.rollBackWhenLate()
		return
	}
	if p.confirmed() {
		p.to(v1beta2.UpgradeStateSwitchingOver)
	}
}

// keeps reports whether the node belongs to this upgrade: the upgrade must not end, and the node is cordoned. It rolls back if that takes
// too long.
func (p *pass) keeps() bool {
	if why := p.endReason(); why != "" {
		p.rollBack(why)
		return false
	}
	if !p.cordoned() {
		p.rollBackWhenLate()
		return false
	}
	return true
}

// rollBackWhenLate rolls back a step that takes too long.
func (p *pass) rollBackWhenLate() {
	if p.late() {
		p.rollBack(fmt.Sprintf("Rolled back from state %s after %s. %s %s", p.observed, Timeout(p.Manager, p.observed), p.message,
			p.next()))
	}
}

// next is the message's next step after a failure.
func (p *pass) next() string {
	return fmt.Sprintf("Repair that, then change the spec of DataEngineUpgradeManager %s.", p.Upgrade.Spec.DataEngineUpgradeManager)
}

// polled requests a poll of the engine of every volume in use, and reports whether each was polled since the state began.
func (p *pass) polled() bool {
	all := true
	for _, name := range p.volumes() {
		if v, ok := p.Cluster.Volumes[name]; ok && v.On(p.nodeID()) && v.Active() != nil {
			all = p.pollEngine(name) && all
		}
	}
	return all
}

// pollEngine requests a poll of the volume's engine, and reports whether one was made since the state began.
func (p *pass) pollEngine(volume string) bool {
	v := p.Cluster.Volumes[volume]
	if v.PolledSince(p.since()) {
		return true
	}
	if engine := v.Active(); engine != nil && !v.PollRequested(p.since()) {
		p.effect(Effect{Kind: RequestPoll, Name: engine.Name, Volume: volume, At: later(p.Now, p.since())})
	}
	return p.waits(volume, p.status.Volumes[volume].State, v1beta2.ReasonWaitingForLook, "im-monitor must poll its engine first.")
}

// later keeps a request from being older than the state that asks. Another clock may have set the state's time, and the request would never
// be satisfied.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
