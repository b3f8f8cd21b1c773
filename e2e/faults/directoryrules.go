package main

// directoryRules are those by which the directory of a v1 replica is removed.
func directoryRules() []rule {
	const claimCore, removalCore, removalShell, directories = "./shared/replicadata", "./disk-controller/internal/removal",
		"./disk-controller/internal/removalcontroller", "./disk-controller/internal/directory"
	const goneCore = "./im-monitor/internal/removal"
	return []rule{
		in("approved first", "a directory is removed only after it was approved", []string{removalCore}, claimCore, "AwaitsRemoval",
			`Approval(r) != ""`, `true`),
		in("gone for this spec", "that an instance is gone counts for the present generation of its Replica only", []string{removalCore},
			claimCore, "AwaitsRemoval", " && gone.ObservedGeneration == r.Generation", ""),
		in("no start under way", "a directory stays while its Replica shows a run, or a start", []string{removalCore}, removalCore, "mayRun",
			"", "return false"),
		in("the premise again", "the premise of an approval is checked again before a directory is removed [UPG-1]", []string{removalCore},
			removalCore, "World.premise", "", `return ""`),
		in("the recorded disk", "a directory is removed from a disk that is ready, at the recorded path", []string{removalCore}, removalCore,
			"World.whyNotReady", "", `return ""`),
		in("one of two names", "a directory that another Replica names stays", []string{claimCore, removalCore}, claimCore, "Claims.By",
			"r.UID != except", "false"),
		in("listed instances", "a directory stays while an instance manager lists its instance", []string{claimCore}, claimCore,
			"Claims.listedBy", "", `return ""`),
		in("unknown disks", "a part of a place that is not known may be the same", []string{claimCore}, claimCore, "Directory.maybe",
			`a != "" && b != "" && a != b`, "a != b"),
		in("the UUID on the disk", "a directory is removed only from the disk that has the recorded UUID", []string{directories}, directories,
			"Disk.mustBe", "", "return nil"),
		in("one part of a path", "what is removed is one part of a path", []string{directories}, claimCore, "CheckName", "", "return nil"),
		in("no other mount", "what is mounted beneath a directory stays", []string{directories}, directories, "Disk.beneath",
			" | unix.RESOLVE_NO_XDEV", ""),
		in("renamed on the device", "nothing is unlinked before the renaming is on the device", []string{directories}, directories,
			"Disk.take", "return true, d.sync()", "return true, nil"),
		in("the version that was read", "the removal is written to the version of the Replica that was read", []string{removalShell},
			removalShell, "reconciler.Reconcile", ", status.AtVersion()", ""),
		in("every instance manager", "an instance is gone only if every instance manager of its node was heard", []string{goneCore}, goneCore,
			"evaluateGone", "case !p.Known:", "case false:"),
		in("half removed is no copy", "an approval is not withdrawn once the removal began", []string{replicaCore}, replicaCore,
			"World.approval", "if approved(r) && v1beta2.RemovalBegan(r) {", "if false {"),
		in("one Replica keeps a directory", "of two Replicas that name one directory the same ends with it in each pass", []string{replicaCore},
			replicaCore, "World.lastUser", "if a.Spec.Active != b.Spec.Active {", "if false {"),
	}
}
