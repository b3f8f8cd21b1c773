package main

// replicaRules are those by which replicas get a place, are rebuilt, and leave.
func replicaRules() []rule {
	placing := []string{placementCore, replicaCore}
	return []rule{
		in("places that become free", "a replica that leaves keeps no place from its successor", placing, placementCore, "option.share",
			"if t.Leaves {", "if false {"),
		in("growth beside an eviction", "the disk of a replica that leaves does not hold up the growth of its volume", []string{replicaCore},
			replicaCore, "World.noRoom", "if w.leaves(r) {", "if false {"),
		in("disks by node", "a disk is known by its node and its UUID", placing, placementCore, "option.share",
			"t.Node == o.Node && t.DiskUUID == o.UUID", "t.DiskUUID == o.UUID"),
		in("disks that moved", "a disk that replicas of another node name reports them", []string{diskCore}, diskCore,
			"one.claimedElsewhere", "", `return ""`),
		in("restores are not left alone", "a volume that takes its data from backups is not left alone", []string{replicaCore}, replicaCore,
			"World.busy", "", "if w.Volume.Status.RestoreRequired {\nreturn true\n}"),
		in("clones that wait are not left alone", "a volume that waits for the source of its data is not left alone", []string{replicaCore},
			replicaCore, "World.busy", "v1beta2.IsCloning(w.Engine.Status.CloneStatus)",
			"w.Volume.Status.CloneStatus.State == v1beta2.CloneInitiated"),
		in("restores fill new replicas", "a failed v1 replica is not used again while its volume takes its data from backups",
			[]string{replicaCore}, replicaCore, "World.isBack", "w.fillsByRestore() || ", ""),
		in("added for a restore", "how a replica is added follows from the volume right before the call", []string{engineCore}, engineCore,
			"IsRestored", "", "return false"),
		in("filled is not stranded", "a replica that waits for a restore is not stranded", []string{engineCore}, engineCore, "pass.over",
			" && !p.fillsByRestore()", ""),
		in("verified with the backup", "a replica is verified once it has the requested backup", []string{engineCore}, engineCore,
			"pass.verifications", "one.LastRestored == wanted && ", ""),
		in("added before the next restore", "a replica is added before the next restore begins", []string{engineCore}, engineCore, "pass.calls",
			"if p.addition(); len(p.out.Calls) == 0 {", "{"),
		in("added ones delay no activation", "a replica that was added to a standby volume delays no activation", []string{machineCore},
			machineCore, "restore.restoresReadable", "one.IsRestoring && !writeOnly[where]", "one.IsRestoring"),
		in("requests end", "the request to restore ends with the restore", []string{machineCore}, machineCore, "restore.endRequest", "",
			"return"),
	}
}
