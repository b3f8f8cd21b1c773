package main

import "slices"

// The packages with tests of the rules.
const (
	nodeCore, planCore, upgradeModel, upgradeReconciler = "./upgrade-controller/internal/nodeupgrade", "./upgrade-controller/internal/plan", "./upgrade-controller/internal/model -worlds=600", "./upgrade-controller/internal/upgradecontroller"
	machineCore, attachModel                            = "./attach-controller/internal/machine", "./attach-controller/internal/model -worlds=3000"
	replicaCore, placementCore, ticketCore              = "./attach-controller/internal/replica", "./attach-controller/internal/placement", "./attach-controller/internal/attach"
	replicaShell                                        = "./attach-controller/internal/replicacontroller"
	diskCore                                            = "./im-monitor/internal/disk"
	leftoverCore                                        = "./upgrade-controller/internal/leftover"
	managerCore, instanceCore                           = "./im-monitor/internal/instancemanager", "./im-monitor/internal/instance"
)

// The files that contain the rules.
const (
	beginFile, middleFile, volumesFile, backFile = nodeCore + "/begin.go", nodeCore + "/middle.go", nodeCore + "/volumes.go", nodeCore + "/back.go"
	stepsFile, upgradingFile, checksFile         = nodeCore + "/decide.go", planCore + "/upgrading.go", planCore + "/preflight.go"
	planFile, seenNodeFile                       = planCore + "/decide.go", "./shared/upgrade/cluster/node.go"
	writeFile, leftoverFile                      = upgradeReconciler + "/apply_node.go", leftoverCore + "/decide.go"
	heldFile                                     = replicaCore + "/upgrade.go"
	replacedFile                                 = managerCore + "/upgrade.go"
)

// moveRules are the rules by which a node is upgraded under running volumes, each with an edit that disables it.
func moveRules() []rule {
	return slices.Concat(nodeRules(), orderRules(), targetRules(), heldBackRules(), podRules())
}

// nodeTests are those of the rules of upgrade-controller for one node.
var nodeTests = []string{nodeCore, upgradeModel, upgradeReconciler}

// nodeRules are those of upgrade-controller for one node, by phase.
func nodeRules() []rule {
	return slices.Concat(beginRules(), relocationRules(), replacementRules(), returnRules())
}

// beginRules are those before the first volume is touched: leftovers, the cordon, the polls and the snapshots.
func beginRules() []rule {
	return []rule{
		off("leftovers first", "a node that is still cordoned by an earlier upgrade is restored before its upgrade begins", nodeTests, beginFile,
			`if p.node.Exists() && p.node.Object.Spec.UpgradeRequested {`, `if false {`),
		off("own finalizer", "an upgrade without a finalizer gets one before anything else", nodeTests, stepsFile,
			`if w.Upgrade.DeletionTimestamp == nil && !Ended(p.observed) && !slices.Contains`, `if false && !slices.Contains`),
		off("upgraded uncached", "completion is decided on an uncached read", nodeTests, beginFile,
			"		if p.confirmed() {\n			p.complete()\n		}", "		p.complete()"),
		off("owned by an upgrade", "a node that an upgrade owns is not a leftover", []string{leftoverCore}, leftoverFile,
			`Upgraded(w.Node, w.Upgrades)`, `false`),
		off("leftover uncached", "that no upgrade owns a node is read uncached", []string{leftoverCore}, leftoverFile,
			`if !w.Fresh {`, `if false {`),
		off("cordoned first", "the node takes no new instance before volumes are listed", nodeTests, beginFile,
			"	if !p.cordoned() {\n		p.rollBackWhenLate()\n		return false\n	}\n", "	p.cordoned()\n"),
		off("polled first", "every engine is polled before its volume is evaluated", nodeTests, beginFile,
			`if !p.polled() || p.blocked()`, `if p.blocked()`),
		off("blockers again", "blockers of the node are checked again once it is cordoned", nodeTests, beginFile,
			`if !p.polled() || p.blocked() ||`, `if !p.polled() ||`),
		off("snapshot first", "a volume is snapshotted before it is changed", nodeTests, beginFile,
			` || !p.each((*pass).takeSnapshot) {`, ` {`),
		off("one at a time", "an upgrade waits for the earlier one", nodeTests, beginFile,
			`if Begun(o.Status.State) || sooner {`, `if sooner && false {`),
	}
}

// relocationRules are those that move targets and replicas away from the node.
func relocationRules() []rule {
	return []rule{
		off("temporary node written ahead", "a target is moved only to the node that the status names", nodeTests, volumesFile,
			`return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTarget, "its target moves to node "+chosen+".")`, `planned = chosen`),
		off("old engine gone first", "a volume counts as relocated only once no engine of it is left on the node", nodeTests, volumesFile,
			`if !v.At(planned) || v.EngineOn(p.nodeID()) || v.Settling() {`, `if v.Object.Status.CurrentTargetNodeID != planned {`),
		off("last copy", "a replica is listed only while a healthy one is left elsewhere", nodeTests, volumesFile,
			`lastCopy := p.Cluster.HealthyBeside(v, p.nodeID()) == 0`, `lastCopy := false`),
		off("poll before listing", "a replica is listed only after a poll of this state", nodeTests, volumesFile,
			"	if !p.pollEngine(name) {\n		return false\n	}\n	if lastCopy {", "	if lastCopy {"),
		off("listing uncached", "a replica is listed after an uncached read", nodeTests, volumesFile,
			"	if p.confirmedVolume(name) {\n		x.Replica = on[0].Name", "	if true {\n		x.Replica = on[0].Name"),
		off("listing removed", "a listing is removed where the replica has become the last copy", nodeTests, volumesFile,
			`if used && lastCopy {`, `if false {`),
		off("another temporary node", "a temporary node that does not serve is replaced", nodeTests, volumesFile,
			"	if planned == \"\" || !p.Cluster.Nodes[planned].Serves() {\n		chosen", "	if planned == \"\" {\n		chosen"),
		off("relocations counted", "targets that are being relocated count for their next node", nodeTests, volumesFile,
			`out[x.TemporaryNodeID]++`, `out[x.TemporaryNodeID] = 0`),
		off("released switched back", "a target request is removed from a volume that was detached", nodeTests, volumesFile,
			"	if exists {\n		p.setTarget(v, \"\")\n	}\n	p.mark(name, v1beta2.VolumeUpgradeReleased", "	p.mark(name, v1beta2.VolumeUpgradeReleased"),
	}
}

// replacementRules are those while the instance manager is replaced.
func replacementRules() []rule {
	return []rule{
		off("gone node", "a node that is gone ends its upgrade", nodeTests, middleFile,
			`if p.node.Object == nil {`, `if false {`),
		off("late volumes", "a volume that is attached late is relocated, too", nodeTests, middleFile,
			"	p.adopt()\n	if !p.each((*pass).takeSnapshot, (*pass).relocateTarget, (*pass).detachReplica) {", "	if !p.each((*pass).takeSnapshot, (*pass).relocateTarget, (*pass).detachReplica) {"),
		off("replacement uncached", "the instance manager is replaced after an uncached read", nodeTests, middleFile,
			"	if !p.confirmed() {\n		return\n	}\n	p.to(v1beta2.UpgradeStateUpgradingInstanceManager)", "	p.to(v1beta2.UpgradeStateUpgradingInstanceManager)"),
		off("old one gone", "the new instance manager counts once the old one is gone", nodeTests, middleFile,
			`if p.node.Runs(p.target()) && p.node.Manager(p.status.OldInstanceManager) == nil {`, `if p.node.Runs(p.target()) {`),
		off("new one answers", "the new image counts once its instance manager has answered", nodeTests, seenNodeFile,
			` && m.Status.APIVersion > 0 &&`, ` &&`),
		off("only forward", "an upgrade whose instance manager was replaced is not rolled back", nodeTests, middleFile,
			`untouched := cluster.Untouched(p.node.Manager(p.status.OldInstanceManager))`, `untouched := true; _ = cluster.Untouched`),
		off("targets kept meanwhile", "a target whose temporary node dies is moved on while the instance manager is replaced", nodeTests, middleFile,
			"	} else {\n		p.each((*pass).relocateTarget)\n", "	} else {\n"),
		off("old one followed", "an instance manager that replaced the old one is recorded as the old one", nodeTests, middleFile,
			"		p.follow()\n", "		_ = p.follow\n"),
	}
}

// returnRules are those that switch targets back, uncordon the node and end the upgrade.
func returnRules() []rule {
	return []rule{
		off("own requests only", "a target that another client requested on a node is not changed", nodeTests, backFile,
			`case here && p.status.Volumes[name].TemporaryNodeID == "":`, `case false:`),
		off("never relocated", "a volume that this upgrade did not relocate does not keep the node cordoned", nodeTests, backFile,
			`case here && p.status.Volumes[name].TemporaryNodeID == "":`, `case here && p.status.Volumes[name].TemporaryNodeID == "" && v.Object.Spec.TargetNodeID != "":`),
		off("attached elsewhere", "a volume that is attached elsewhere has left once no engine of it is here", nodeTests, backFile,
			`if !v.Left(p.nodeID()) {`, `if !v.AtOriginalNode() || v.Settling() {`),
		off("original node serves", "a target is switched back only to a node that serves", nodeTests, backFile,
			`case here && !p.node.Serves() && v.Object.Spec.TargetNodeID != "":`, `case false:`),
		off("alone on the original node", "a target is switched back once no other engine is left", nodeTests, backFile,
			`if !v.AtOriginalNode() || v.Settling() {`, `if v.Object.Spec.TargetNodeID != "" {`),
		off("uncordoned at the end", "an upgrade ends once its node is uncordoned", nodeTests, backFile,
			`case uncordoned && rebuilt:`, `case rebuilt:`),
		off("switched back before uncordoned", "a rollback uncordons the node once every target is switched back", nodeTests, backFile,
			`if p.each((*pass).switchBack) && p.uncordoned() {`, `if p.uncordoned() {`),
		off("forward after all", "a rollback that finds the instance manager replaced continues the upgrade", nodeTests, backFile,
			`if p.status.OldInstanceManager != nil && p.node.Manager(p.status.OldInstanceManager) == nil && p.node.Runs(p.target()) {`, `if false {`),
		off("finalizer at the end", "a deleted upgrade ends once nothing is left behind", nodeTests, backFile,
			`p.verdict.DropFinalizer = clean && `, `_ = clean; p.verdict.DropFinalizer = `),
		off("not another's node", "a node that the next upgrade cordoned is not uncordoned", nodeTests, stepsFile,
			`if o.Spec.NodeID == p.nodeID() && Begun(o.Status.State) {`, `if o == nil {`),
		off("uncordoned uncached", "a node is uncordoned after an uncached read", nodeTests, stepsFile,
			"	if !p.confirmed() {\n		return false\n	}\n	p.effect(Effect{Kind: OpenNode", "	p.effect(Effect{Kind: OpenNode"),
		off("evaluated version of a volume", "a target is requested on the resourceVersion that was evaluated", []string{upgradeReconciler}, writeFile,
			`return status.MergeSpec(ctx, c, v, fields, status.AtVersion())`, `return status.MergeSpec(ctx, c, v, fields)`),
		off("evaluated version of the upgrade", "a status is written on the resourceVersion that was evaluated", []string{upgradeReconciler}, writeFile,
			`status.MergeStatus(ctx, c, w.Upgrade, changed, status.AtVersion())`, `status.MergeStatus(ctx, c, w.Upgrade, changed)`),
	}
}

// orderRules are those of upgrade-controller for the whole upgrade.
func orderRules() []rule {
	tests := []string{planCore, upgradeModel, upgradeReconciler}
	return []rule{
		off("refused as a whole", "one blocker of any node refuses the whole upgrade", tests, checksFile,
			`if len(found) > 0 {`, `if false {`),
		off("nodes one by one", "the next node waits for every upgrade of a node that is in progress", tests, upgradingFile,
			`if !nodeupgrade.Ended(u.Status.State) && u.Name != UpgradeName(p.Manager.Name, node) {`, `if nodeupgrade.Ended(u.Status.State) && u.Name == "" {`),
		off("next node uncached", "the next node is chosen after an uncached read", tests, upgradingFile,
			"	if !p.confirmed() {\n		return\n	}\n	p.status.UpgradingNode = node", "	p.status.UpgradingNode = node"),
		off("manager stays", "a deleted upgrade ends once no node of it is in progress", tests, planFile,
			`p.verdict.DropFinalizer = !left`, `_ = left; p.verdict.DropFinalizer = true`),
		off("upgrade queue", "an upgrade waits for the earlier one", tests, planFile,
			"	if first := before(p.Manager, p.Others); first != nil {\n		p.hold(v1beta2.ReasonWaitingForUpgrade,\n			fmt.Sprintf(\"DataEngineUpgradeManager",
			"	if first := before(p.Manager, nil); first != nil {\n		p.hold(v1beta2.ReasonWaitingForUpgrade,\n			fmt.Sprintf(\"DataEngineUpgradeManager"),
	}
}

// targetRules are those of attach-controller for the move of a target.
func targetRules() []rule {
	tests := []string{machineCore, attachModel}
	return []rule{
		in("path of the frontend", "the active engine is the one that the frontend reports as its path", tests, machineCore, "leadsTo",
			"", `return f.Spec.EngineName == e.Name`),
		in("old engine last", "an engine ends only once the frontend leads to the other", tests, machineCore, "targetMove.dropSecondTarget",
			`if !leadsTo(m.frontend, m.engine) || m.frontend.Status.SwitchoverInProgress() || m.frontend.Spec.EngineName != m.engine.Name {`, `if false {`),
		in("fresh poll for the second", "the second engine is created after a fresh poll", tests, machineCore, "targetMove.begin",
			` && m.requestPoll() {`, ` {`),
		in("nothing unfinished", "no second engine while the first has an operation that another engine could not continue", tests,
			machineCore, "Facts.engineBusy", "", "return false"),
		in("all replicas in the second", "the frontend switches once the second engine has every replica", tests, machineCore, "Facts.secondReady",
			`if f.second.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {`, `if name == "" {`),
		in("fresh poll before the switchover", "the first engine is polled right before the switchover", tests, machineCore, "targetMove.prepareSwitch",
			`if !m.requestPoll() {`, `if false {`),
		in("a failed second never counts", "the frontend does not switch to a failed engine", tests, machineCore, "Facts.secondFailed",
			`bad := ofEngine(f.second).state == v1beta2.InstanceStateError || f.engineRuns() && f.secondOutdated()`, `bad := false`),
		in("suspension lost", "a frontend that lost its suspension is led back", tests, machineCore, "targetMove.prepareSwitch",
			`case switchOrdered && suspensionLost(m.frontend):`, `case false:`),
		in("what the old one dropped", "a replica that the ending engine had dropped is treated as stale", tests, machineCore, "targetMove.failDroppedBy",
			"", "return"),
		in("no reversal", "a switchover that is almost complete is completed", tests, machineCore, "Facts.switchAlmostComplete",
			"", "return false"),
		in("not to a node that is down", "a target stays while the requested node is down", tests, machineCore, "targetMove.chooseDestination",
			`case m.nodeDown(wanted):`, `case false:`),
		in("not to a node that is emptied", "a target does not move to a node whose instance manager is replaced", tests, machineCore, "targetMove.chooseDestination",
			`case wanted != original && m.Nodes[wanted].Upgrading, u != nil && u.replacesManager():`, `case u != nil && false:`),
		in("unreachable replicas first", "replicas that the next engine cannot reach are marked failed first", tests, machineCore,
			"targetMove.failUnreachable", "", "return false"),
		in("last good one stays", "the last good replica is not removed", tests, machineCore, "Facts.otherStays", "", "return true"),
		in("failed before out", "a replica is marked failed before the engine continues without it", tests, machineCore, "membership.detachForUpgrade",
			`if m.fail(r, why) {`, `if true {`),
		in("poll before removal", "a replica is removed after a fresh poll", tests, machineCore, "membership.detachForUpgrade",
			`if !m.requestPoll() {`, `if false {`),
		in("left out of a new engine", "a restarted engine does not get a replica that is about to be removed", tests, machineCore,
			"Facts.excludedByUpgrade", "", "return false"),
		in("suspended first", "all I/O is suspended before the fail over", tests, machineCore, "ioSuspension.suspendIO", "", "return true"),
		in("suspended until complete", "I/O is resumed only where all acknowledged writes are", tests, machineCore,
			"Facts.successorPending", "", "return false"),
		in("polled once more", "a target is polled once more after all I/O is suspended", tests, machineCore, "ioSuspension.suspendIO",
			"	case x.engine.Spec.LookRequestedAt != request:", "	case false:"),
	}
}

// heldBackRules are those of attach-controller for replicas and tickets.
func heldBackRules() []rule {
	return []rule{
		off("rebuilds delayed", "no replica is rebuilt for a volume that is being relocated", []string{replicaCore}, heldFile,
			`if u.Listed && !u.over() {`, `if u.Node == "" {`),
		off("nothing rebuilt while moving", "no replica is rebuilt while the target moves", []string{replicaCore}, heldFile,
			`	return w.moving()`, `	return false`),
		off("no return too early", "a replica does not return to a node that is being upgraded", []string{replicaCore}, heldFile,
			"		if u.Node == node && u.over() {", "		if u.Node == node {"),
		off("no new replica", "a node that is being upgraded takes no new replica", []string{placementCore}, placementCore+"/placement.go",
			`case n.Spec.UpgradeRequested:`, `case false:`),
		off("tickets wait", "a ticket for a node that is being upgraded waits", []string{ticketCore}, ticketCore+"/ticket.go",
			`case node.Upgrading:`, `case false:`),
	}
}

// podRules are those of im-monitor.
func podRules() []rule {
	tests := []string{managerCore}
	return []rule{
		off("no engine on it", "a pod with an engine on it stays", tests, replacedFile, `case len(engines) > 0:`, `case false:`),
		off("no engine that maps it", "a pod with a replica that an engine maps stays", tests, replacedFile, `case len(w.Mapped) > 0:`, `case false:`),
		off("unknown is not empty", "a pod without a known inventory stays", tests, replacedFile, `case !w.Inventory.Known:`, `case false:`),
		off("settled", "a pod that just started stays", tests, replacedFile, `case !w.Inventory.Settled:`, `case false:`),
		off("polled", "an instance manager is polled right before its pod ends", tests, replacedFile, `case w.replaced() && !w.Inventory.Asked:`, `case false:`),
		off("same UID", "only the instance manager with the named UID is replaced", tests, replacedFile, "		u.OldUID == w.InstanceManager.UID && ", "		"),
		off("right state", "an instance manager is replaced only in the state for it", tests, replacedFile, `w.v2() && u.State == v1beta2.UpgradeStateUpgradingInstanceManager && `, `w.v2() && `),
		off("frontends outlive it", "a frontend that is not listed while its node is upgraded is not missing", []string{instanceCore}, instanceCore+"/decide.go",
			`case w.Here.Absent && w.frontend() && w.Node.Upgrading && w.Status.Switchover.Phase == "":`, `case false:`),
		off("active engine", "an engine that a frontend leads to is not stopped", []string{instanceCore}, instanceCore+"/stop.go",
			`case w.LedBy != "" && e.State == v1beta2.InstanceStateRunning:`, `case false:`),
	}
}
