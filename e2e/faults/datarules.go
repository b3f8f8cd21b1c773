package main

// The packages with tests of the rules about data.
const (
	enginePoll                            = "./im-monitor/internal/enginepoll"
	snapshotCore                          = "./snapshot-controller/internal/snapshot"
	engineCore, recurringCore, backupCore = "./im-monitor/internal/engine", "./snapshot-controller/internal/recurring",
		"./snapshot-controller/internal/backup"
)

// dataRules are those by which snapshots, backups, copies and rebuilds are followed.
func dataRules() []rule {
	return []rule{
		in("silence is no failure", "a replica that does not answer one question about its work has not failed", []string{engineCore},
			engineCore, "answered", "if !one.IsUnanswered() {", "if true {"),
		in("silence is no completion", "a copy is not complete before all replicas have answered", []string{engineCore}, engineCore,
			"pass.keepUnanswered", "p.Seen.Clones[where] = v1beta2.SnapshotCloneStatus{}", "continue"),
		in("busy engines fail no replica", "an addition that a busy engine refuses is no failure of the replica", []string{enginePoll},
			enginePoll, "Controller.isBusy", "", "return false").shows("TestAnEngineThatIsBusyFailsNoReplica"),
		in("silence begins nothing", "no copy begins while a replica does not say whether it copies", []string{engineCore}, engineCore,
			"pass.calls", "p.cloneDue() && !p.unanswered", "p.cloneDue()"),
		in("a failed copy has a state", "the error of a question alone ends no clone", []string{machineCore}, machineCore,
			"clone.readResult", " && !one.IsUnanswered()", ""),
		in("replicas of a removal", "a v2 removal waits for the upgrade of each node that has a replica in use", []string{snapshotCore},
			snapshotCore, "World.upgrading", "w.Nodes...", "w.Nodes[:min(len(w.Nodes), 1)]..."),
		in("blocked retention pauses", "a job adds nothing to a volume where what it deleted is not removed", []string{recurringCore},
			recurringCore, "World.begins", ` && w.Paused(v) == ""`, ""),
		in("stalled backups hold no run", "a backup without progress does not hold its job's run", []string{recurringCore}, recurringCore,
			"World.underWayBackups", "case backup.IsStalled(b):", "case false && backup.IsStalled(b):"),
		in("stalls end", "the condition of a stalled backup goes when that has ended", []string{backupCore}, backupCore, "World.endsStall",
			"", "return false"),
	}
}

// orphanRules are those by which policy takes orphans that a person gave up.
func orphanRules() []rule {
	const orphanCore, pluginCommand, pluginOrphans = "./orphan-controller/internal/orphan", "./kubectl-drover/internal/command",
		"./kubectl-drover/internal/orphans"
	return []rule{
		in("only the recorded", "policy deletes an instance without an object only if it was given up [ORP-5]", []string{orphanCore}, orphanCore,
			"notAbandoned", " || recorded(w) || v1beta2.GivenUp(w.Orphan)", " || true"),
		in("exactly this orphan", "a person gives up exactly one Orphan", []string{orphanCore}, "./shared/api/v1beta2", "GivenUp",
			"== string(o.UID)", `!= ""`),
		in("given up is no flood", "what a person gave up counts for no flood", []string{orphanCore}, orphanCore, "largestBurst",
			" && !s.GivenUp", ""),
		in("time to take it back", "the grace period of what a person gave up begins with the record", []string{orphanCore}, orphanCore,
			"graceBegan", "return at", "return began"),
		in("as shown", "nothing is recorded or deleted that is not as it was shown", []string{pluginCommand}, pluginCommand, "target.is",
			" && t.effect == agreed.effect", ""),
		in("foreign data stays", "nobody gives up data of another cluster by a selector", []string{pluginOrphans}, pluginOrphans,
			"Orphan.notAcceptable", "case o.Orphaned.Reason == v1beta2.ReasonForeignData:", "case false:"),
	}
}
