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
	}
}
