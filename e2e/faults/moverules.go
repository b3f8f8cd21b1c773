package main

import "slices"

// The packages whose tests prove the rules of live upgrades.
const (
	nodeCore, planCore, upgradeModel, upgradeReconciler = "./upgrade-controller/internal/nodeupgrade", "./upgrade-controller/internal/plan", "./upgrade-controller/internal/model -worlds=600", "./upgrade-controller/internal/upgradecontroller"
	machineCore, attachModel                            = "./attach-controller/internal/machine", "./attach-controller/internal/model -worlds=3000"
	replicaCore, placementCore, ticketCore              = "./attach-controller/internal/replica", "./attach-controller/internal/placement", "./attach-controller/internal/attach"
	leftoverCore                                        = "./upgrade-controller/internal/leftover"
	managerCore, instanceCore                           = "./im-monitor/internal/instancemanager", "./im-monitor/internal/instance"
)

// The files in which they stand.
const (
	beginFile, middleFile, volumesFile, backFile  = nodeCore + "/begin.go", nodeCore + "/middle.go", nodeCore + "/volumes.go", nodeCore + "/back.go"
	stepsFile, upgradingFile, checksFile          = nodeCore + "/decide.go", planCore + "/upgrading.go", planCore + "/preflight.go"
	planFile, seenNodeFile                        = planCore + "/decide.go", "./upgrade-controller/internal/cluster/node.go"
	writeFile, leftoverFile                       = upgradeReconciler + "/apply_node.go", leftoverCore + "/decide.go"
	targetFile, secondFile, outFile, failOverFile = machineCore + "/target.go", machineCore + "/target_second.go", machineCore + "/upgrade.go", machineCore + "/givenup.go"
	heldFile                                      = replicaCore + "/upgrade.go"
	replacedFile                                  = managerCore + "/upgrade.go"
)

// moveRules are the rules by which a node is upgraded under running volumes, each with what leaves it out.
func moveRules() []rule {
	return slices.Concat(nodeRules(), orderRules(), targetRules(), heldBackRules(), podRules())
}

// nodeRules are those of upgrade-controller for one node.
func nodeRules() []rule {
	tests := []string{nodeCore, upgradeModel, upgradeReconciler}
	return []rule{
		off("temporary node written ahead", "a target goes only where the status says that it goes", tests, volumesFile,
			`return p.waits(name, v1beta2.VolumeUpgradeMoving, v1beta2.ReasonWaitingForTarget, "its target shall go to node "+chosen+".")`, `planned = chosen`),
		off("old engine gone first", "a volume is away only when no engine of it is left on the node", tests, volumesFile,
			`if !v.At(planned) || v.EngineOn(p.nodeID()) || v.Settling() {`, `if v.Object.Status.CurrentTargetNodeID != planned {`),
		off("last copy", "a replica is listed only while a healthy one is left elsewhere", tests, volumesFile,
			`lastCopy := p.Cluster.HealthyBeside(v, p.nodeID()) == 0`, `lastCopy := false`),
		off("look before listing", "a replica is listed only after a look of this state", tests, volumesFile,
			"	if !p.lookedAt(name) {\n		return false\n	}\n	if lastCopy {", "	if lastCopy {"),
		off("listing uncached", "a replica is listed on what was read uncached", tests, volumesFile,
			"	if p.confirmed() {\n		x.Replica = on[0].Name", "	if true {\n		x.Replica = on[0].Name"),
		off("listing taken back", "a listing is taken back where it has become the last copy", tests, volumesFile,
			`if used && lastCopy {`, `if false {`),
		off("own wishes only", "a target that somebody else wishes elsewhere is left alone", tests, backFile,
			`case here && p.status.Volumes[name].TemporaryNodeID == "":`, `case false:`),
		off("never sent", "what was never sent away keeps no node closed", tests, backFile,
			`case here && p.status.Volumes[name].TemporaryNodeID == "":`, `case here && p.status.Volumes[name].TemporaryNodeID == "" && v.Object.Spec.TargetNodeID != "":`),
		off("held elsewhere", "a volume that is held elsewhere has left once no engine of it is here", tests, backFile,
			`if !v.Left(p.nodeID()) {`, `if !v.AtOriginalNode() || v.Settling() {`),
		off("gone node", "a node that is gone ends its upgrade", tests, middleFile,
			`if p.node.Object == nil {`, `if false {`),
		off("left behind first", "a node that is still closed is brought to rights before it is taken", tests, beginFile,
			`if p.node.Exists() && p.node.Object.Spec.UpgradeRequested {`, `if false {`),
		off("own finalizer", "an upgrade without a finalizer gets one before anything else", tests, stepsFile,
			`if w.Upgrade.DeletionTimestamp == nil && !Ended(p.observed) && !slices.Contains`, `if false && !slices.Contains`),
		off("upgraded uncached", "that nothing is left to do is read uncached", tests, beginFile,
			"		if p.confirmed() {\n			p.complete()\n		}", "		p.complete()"),
		off("nobody has it", "what an upgrade has is not taken for left behind", []string{leftoverCore}, leftoverFile,
			`Upgraded(w.Node, w.Upgrades)`, `false`),
		off("left behind uncached", "that nobody has a node is read uncached", []string{leftoverCore}, leftoverFile,
			`if !w.Fresh {`, `if false {`),
		off("another temporary node", "a temporary node that does not serve is replaced", tests, volumesFile,
			"	if planned == \"\" || !p.Cluster.Nodes[planned].Serves() {\n		chosen", "	if planned == \"\" {\n		chosen"),
		off("coming counted", "targets that are on their way count where they go", tests, volumesFile,
			`out[x.TemporaryNodeID]++`, `out[x.TemporaryNodeID] = 0`),
		off("released goes home", "a volume that was detached is wished nowhere", tests, volumesFile,
			"	if exists {\n		p.send(v, \"\")\n	}\n	p.mark(name, v1beta2.VolumeUpgradeReleased", "	p.mark(name, v1beta2.VolumeUpgradeReleased"),
		off("closed first", "the node takes nothing new before volumes are listed", tests, beginFile,
			"	if !p.closed() {\n		p.giveUpWhenLate()\n		return false\n	}\n", "	p.closed()\n"),
		off("looked at first", "every engine is looked at before its volume is judged", tests, beginFile,
			`if !p.polled() || p.blocked()`, `if p.blocked()`),
		off("blockers again", "what stands against the node is asked again once it is closed", tests, beginFile,
			`if !p.polled() || p.blocked() ||`, `if !p.polled() ||`),
		off("snapshot first", "a volume is snapshotted before it is touched", tests, beginFile,
			` || !p.each((*pass).snapshotted) {`, ` {`),
		off("one at a time", "an upgrade waits for the one that came first", tests, beginFile,
			`if Begun(o.Status.State) || sooner {`, `if sooner && false {`),
		off("late volumes", "a volume that comes late is led around the node, too", tests, middleFile,
			"	p.adopt()\n	if !p.each((*pass).snapshotted, (*pass).moved, (*pass).takenOut) {", "	if !p.each((*pass).snapshotted, (*pass).moved, (*pass).takenOut) {"),
		off("replacement uncached", "the instance manager is replaced on what was read uncached", tests, middleFile,
			"	if !p.confirmed() {\n		return\n	}\n	p.to(v1beta2.UpgradeStateUpgradingInstanceManager)", "	p.to(v1beta2.UpgradeStateUpgradingInstanceManager)"),
		off("old one gone", "the new instance manager counts once the old one is gone", tests, middleFile,
			`if p.node.Runs(p.target()) && p.node.Manager(p.status.OldInstanceManager) == nil {`, `if p.node.Runs(p.target()) {`),
		off("new one answers", "the new image is proven by what it answered", tests, seenNodeFile,
			` && m.Status.APIVersion > 0 &&`, ` &&`),
		off("only forward", "what was replaced is not given up", tests, middleFile,
			`untouched := cluster.Untouched(p.node.Manager(p.status.OldInstanceManager))`, `untouched := true; _ = cluster.Untouched`),
		off("targets kept meanwhile", "a target whose temporary node dies is moved on while the instance manager is away", tests, middleFile,
			"	} else {\n		p.each((*pass).moved)\n", "	} else {\n"),
		off("old one followed", "an instance manager that runs in the old one's place is named", tests, middleFile,
			"		p.follow()\n", "		_ = p.follow\n"),
		off("home serves", "a target goes home only where it can be served", tests, backFile,
			`case here && !p.node.Serves() && v.Object.Spec.TargetNodeID != "":`, `case false:`),
		off("home alone", "a target is home once no other engine is left", tests, backFile,
			`if !v.AtOriginalNode() || v.Settling() {`, `if v.Object.Spec.TargetNodeID != "" {`),
		off("opened at the end", "an upgrade ends once its node is open", tests, backFile,
			`case open && whole:`, `case whole:`),
		off("home before opened", "a roll back opens the node once every target is home", tests, backFile,
			`if p.each((*pass).home) && p.opened() {`, `if p.opened() {`),
		off("forward after all", "a roll back that finds the instance manager replaced goes on", tests, backFile,
			`if p.status.OldInstanceManager != nil && p.node.Manager(p.status.OldInstanceManager) == nil && p.node.Runs(p.target()) {`, `if false {`),
		off("finalizer at the end", "a deleted upgrade goes once nothing is left behind", tests, backFile,
			`p.verdict.DropFinalizer = clean && `, `_ = clean; p.verdict.DropFinalizer = `),
		off("not another's node", "a node that the next upgrade closed is not opened", tests, stepsFile,
			`if o.Spec.NodeID == p.nodeID() && Begun(o.Status.State) {`, `if o == nil {`),
		off("opened uncached", "a node is opened on what was read uncached", tests, stepsFile,
			"	if !p.confirmed() {\n		return false\n	}\n	p.effect(Effect{Kind: OpenNode", "	p.effect(Effect{Kind: OpenNode"),
		off("judged version of a volume", "a target is wished on the version that was judged", []string{upgradeReconciler}, writeFile,
			`return status.MergeSpec(ctx, c, v, fields, status.AtVersion())`, `return status.MergeSpec(ctx, c, v, fields)`),
		off("judged version of the upgrade", "a status is written on the version that was judged", []string{upgradeReconciler}, writeFile,
			`status.MergeStatus(ctx, c, w.Upgrade, changed, status.AtVersion())`, `status.MergeStatus(ctx, c, w.Upgrade, changed)`),
	}
}

// orderRules are those of upgrade-controller for the upgrade as a whole.
func orderRules() []rule {
	tests := []string{planCore, upgradeModel, upgradeReconciler}
	return []rule{
		off("refused as a whole", "one blocker of any node refuses the upgrade", tests, checksFile,
			`if len(found) > 0 {`, `if false {`),
		off("nodes one by one", "the next node waits for what is under way, whosever it is", tests, upgradingFile,
			`if !nodeupgrade.Ended(u.Status.State) && u.Name != UpgradeName(p.Manager.Name, node) {`, `if nodeupgrade.Ended(u.Status.State) && u.Name == "" {`),
		off("next node uncached", "the next node is chosen on what was read uncached", tests, upgradingFile,
			"	if !p.confirmed() {\n		return\n	}\n	p.status.UpgradingNode = node", "	p.status.UpgradingNode = node"),
		off("manager stays", "a deleted upgrade goes once no node of it is under way", tests, planFile,
			`p.verdict.DropFinalizer = !left`, `_ = left; p.verdict.DropFinalizer = true`),
		off("turn", "an upgrade waits for the one that came first", tests, planFile,
			"	if first := before(p.Manager, p.Others); first != nil {\n		p.hold(v1beta2.ReasonWaitingForUpgrade, fmt.Sprintf(\"DataEngineUpgradeManager %s came", "	if first := before(p.Manager, nil); first != nil {\n		p.hold(v1beta2.ReasonWaitingForUpgrade, fmt.Sprintf(\"DataEngineUpgradeManager %s came"),
	}
}

// targetRules are those of attach-controller for the move of a target.
func targetRules() []rule {
	tests := []string{machineCore, attachModel}
	return []rule{
		off("frontend's word", "the engine that counts is the one that the frontend says it leads to", tests, targetFile,
			`return s.TargetIP != "" && s.TargetPort != 0 && s.TargetIP == e.Status.StorageIP && s.TargetPort == e.Status.Port`, `_ = s; return f.Spec.EngineName == e.Name`),
		off("old engine last", "an engine ends only once the frontend leads to the other", tests, secondFile,
			`if !leadsTo(p.frontend, p.engine) || p.frontend.Status.SwitchoverInProgress() || p.frontend.Spec.EngineName != p.engine.Name {`, `if false {`),
		off("fresh look for the second", "the second engine is made over what a fresh look shows", tests, targetFile,
			`if !p.unfinished() && p.freshPoll() {`, `if !p.unfinished() {`),
		off("nothing unfinished", "no second engine while the first does what no other could go on with", tests, targetFile,
			`if !p.unfinished() && p.freshPoll() {`, `if p.freshPoll() {`),
		off("all replicas in the second", "the frontend goes once the second engine has every replica", tests, secondFile,
			`if p.second.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {`, `if name == "" {`),
		off("fresh look before the frontend goes", "the first engine is looked at right before", tests, secondFile,
			`case p.engineUp() && !p.freshPoll(), !p.engineUp()`, `case !p.engineUp()`),
		off("a failed second never counts", "the frontend does not go to an engine that failed", tests, secondFile,
			`bad := ofEngine(p.second).state == v1beta2.InstanceStateError || p.engineUp() && p.outrun()`, `bad := false`),
		off("hold lost", "a frontend that lost its hold is led back", tests, secondFile,
			`case reported && lost(p.frontend):`, `case false:`),
		off("what the old one dropped", "a replica that the engine which ends had dropped is believed to lack data", tests, secondFile,
			"	p.believe(e)\n", "	_ = p.believe\n"),
		off("no turning round", "a frontend that is about to arrive arrives", tests, targetFile,
			`case p.arriving(goal):`, `case false && p.arriving(goal):`),
		off("not to a node that is down", "a target stays where it is while the wished node is down", tests, targetFile,
			`case p.down(wanted):`, `case false:`),
		off("not to a node that is emptied", "a target does not go where the instance manager goes", tests, targetFile,
			`case wanted != home && p.Nodes[wanted].Upgrading, u != nil && u.leaves():`, `case u != nil && false:`),
		off("unreachable replicas first", "replicas that the next engine will not have have failed before", tests, targetFile,
			"		if !p.failUnreachable() {\n			p.makeTarget(goal)\n		}", "		_ = p.failUnreachable\n		p.makeTarget(goal)"),
		off("last good one stays", "the last good replica is not taken out", tests, outFile,
			`case !p.otherStays(r, wanted):`, `case false && !p.otherStays(r, wanted):`),
		off("failed before out", "a replica has failed before the engine goes on without it", tests, outFile,
			`case p.freshPoll() && p.fail(r, why):`, `case p.freshPoll():`),
		off("look before out", "a replica is taken out after a fresh look", tests, outFile,
			`case p.freshPoll() && p.fail(r, why):`, `case p.fail(r, why):`),
		off("left out of a new engine", "an engine that starts anew does without what is about to go", tests, outFile,
			"	u := p.upgradeOf(r.Spec.NodeID)\n	if u == nil || !u.apart() || !p.isV2() {\n		return false\n	}\n	for", "	u := p.upgradeOf(r.Spec.NodeID)\n	if u != nil || u == nil {\n		return false\n	}\n	for"),
		off("cut off first", "a target that is given up is cut off first", tests, failOverFile,
			`if p.Rules.off(RuleCutOffFirst) {`, `if true {`),
		off("held until all is there", "I/O goes on only where everything is that was acknowledged", tests, failOverFile,
			`case (p.second != nil || !p.engineUp()) && p.marked(), p.second != nil && !p.engineUp():`, `case false && p.marked():`),
		off("asked once more", "a target that was cut off is asked once more", tests, failOverFile,
			"	case p.engine.Spec.LookRequestedAt != request:", "	case false:"),
	}
}

// heldBackRules are those of attach-controller for replicas and tickets.
func heldBackRules() []rule {
	return []rule{
		off("rebuilds held back", "nothing is rebuilt for a volume that is led around a node", []string{replicaCore}, heldFile,
			`if u.Listed && !u.over() {`, `if u.Node == "" {`),
		off("nothing rebuilt while moving", "nothing is rebuilt while the target moves", []string{replicaCore}, heldFile,
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
		off("unknown is not empty", "a pod of which nothing is known stays", tests, replacedFile, `case !w.Inventory.Known:`, `case false:`),
		off("settled", "a pod that just started stays", tests, replacedFile, `case !w.Inventory.Settled:`, `case false:`),
		off("asked", "a pod is asked right before it ends", tests, replacedFile, `case w.replaced() && !w.Inventory.Asked:`, `case false:`),
		off("that very one", "only the instance manager whose UID was named is replaced", tests, replacedFile, "		u.OldUID == w.InstanceManager.UID && ", "		"),
		off("its time", "it is replaced in its state only", tests, replacedFile, `w.v2() && u.State == v1beta2.UpgradeStateUpgradingInstanceManager && `, `w.v2() && `),
		off("frontends outlive it", "a frontend that is not listed while its node is upgraded is not missing", []string{instanceCore}, instanceCore+"/decide.go",
			`case w.Here.Absent && w.frontend() && w.Node.Upgrading && w.Status.Switchover.Phase == "":`, `case false:`),
		off("led to", "an engine that a frontend leads to is not stopped", []string{instanceCore}, instanceCore+"/stop.go",
			`case w.LedBy != "" && e.State == v1beta2.InstanceStateRunning:`, `case false:`),
	}
}
