package main

// migrationRules are those of the second engine of a v1 migration, which has replica processes of its own.
func migrationRules() []rule {
	tests := []string{machineCore}
	return []rule{
		in("processes of its own", "no engine starts over a v1 replica process that serves another one [ATT-1]", []string{instanceCore},
			instanceCore, "World.shared", "", `return ""`),
		in("nothing under way", "no migration begins beside a rebuild, an expansion, a purge, a revert or a restore", tests, machineCore,
			"Facts.migrationBlocker", "", `return ""`),
		in("no work of the engine", "no migration begins while the engine changes its chain of files", tests, machineCore, "Facts.engineWork", "",
			`return ""`),
		in("nothing left out that may have data", "a migration leaves out no replica that may have all data [UPG-1]", tests, machineCore,
			"migration.leaveOutUnrebuilt", "&& !complete", "&& (!complete || complete)"),
		in("reported before the hand-over", "no engine stops for another one that has not reported its replicas [UPG-1]", tests, machineCore,
			"migration.secondReported", "", "return true"),
		in("serves before the hand-over", "no engine stops for another one that serves nothing [UPG-1]", tests, machineCore,
			"Facts.secondServesNothing", "", "return false"),
		in("active before inactive", "a directory has an active Replica at every moment", tests, machineCore, "migration.handOverDirectory",
			"if !next.Spec.Active {", "if false {"),
		in("left behind by a migration", "replicas that the second engine lacks are marked before the volume moves [UPG-1]", tests, machineCore,
			"migration.handOverDirectory", "if m.hasAllData(r) && r.DeletionTimestamp == nil {", "if false {"),
		in("old processes stop", "a migration ends when the processes that it leaves behind have stopped", tests, machineCore,
			"migration.stopSecondProcesses", "", "return true"),
		in("modes by directory", "what the second engine dropped counts for the copy of the same directory", tests, machineCore, "Facts.modeOf",
			`if mode := modeIn(e, second.Name); mode != "" &&`, "if mode := modeIn(e, second.Name); false &&"),
		in("never served", "a second engine that never had the volume marks no replica", tests, machineCore, "Facts.neverServed", "",
			"return false"),
		in("failure recorded first", "the failure of a second engine is stored before that engine ends", tests, machineCore,
			"migration.recordFailure", "", "return false"),
		in("growing pauses", "the next attempt of a migration waits for the stored pause", tests, machineCore, "migration.waitAfterFailure", "",
			"return false"),
		in("an end of the wait", "a second side that does not start is given up", tests, machineCore, "migration.secondOverdue", "", `return ""`),
		in("same chain", "a second engine that lacks a snapshot of the first one is not used", tests, machineCore, "Facts.secondLacksSnapshot",
			"", "return false"),
		in("not beside another process", "a copy is not rebuilt while a second process over its directory may run", tests, machineCore,
			"Facts.directoryInUse", "", "return false"),
		in("no copy", "a second process is released without an approval", []string{"./attach-controller/internal/replica"},
			"./attach-controller/internal/replica", "World.going", "case w.ended(r):", "case false:"),
	}
}
