package main

// The packages with tests of the rules about data.
const (
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
		in("silence begins nothing", "no copy begins while a replica does not say whether it copies", []string{engineCore}, engineCore,
			"pass.calls", "p.cloneDue() && !p.unanswered", "p.cloneDue()"),
		in("a failed copy has a state", "the error of a question alone ends no clone", []string{machineCore}, machineCore,
			"clone.readResult", " && !one.IsUnanswered()", ""),
		in("blocked retention pauses", "a job adds nothing to a volume where what it deleted is not removed", []string{recurringCore},
			recurringCore, "World.begins", ` && w.Paused(v) == ""`, ""),
		in("stalled backups hold no run", "a backup without progress does not hold its job's run", []string{recurringCore}, recurringCore,
			"World.underWayBackups", "case backup.IsStalled(b):", "case false && backup.IsStalled(b):"),
		in("stalls end", "the condition of a stalled backup goes when that has ended", []string{backupCore}, backupCore, "World.endsStall",
			"", "return false"),
	}
}
