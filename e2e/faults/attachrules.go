package main

import "slices"

const attachWorld = "./attach-controller/internal/model -run=TestEveryWorld -worlds=1 -first="

// attachRules are the rules by which a volume gets a node, and is attached and detached, each with edits that disable it.
func attachRules() []rule { return slices.Concat(ticketRules(), volumeRules()) }

// anyOf are a core, one world of the model that is bad without the rule, and many worlds: they find another one if a change of the model
// changed that world.
func anyOf(core, seed string) []string { return []string{core, attachWorld + seed, attachModel} }

// volumeRules are those by which attach-controller attaches and detaches a volume.
func volumeRules() []rule {
	return []rule{
		in("creating closes", "a volume in state creating closes first, on whichever node it is wanted", anyOf(machineCore, "43"), machineCore,
			"lifecycle.create", "", "return"),
		in("unstartable replicas", "a replica that fails while the volume is attaching has failed", anyOf(machineCore, "221"), machineCore,
			"replicaHealth.failUnstartable", "", "return"),
		in("down nodes delay nothing", "an instance on a down node does not delay the next step of closing", anyOf(machineCore, "40"), machineCore,
			"Facts.delaysNothing", "", "return false"),
		in("unreachable replicas before reachable ones stop", "replicas on down nodes are marked as failed before the first reachable one "+
			"is stopped", []string{machineCore, attachModel}, machineCore, "closing.failUnreachableReplicas", "", "return"),
		in("reports of this run", "replica modes that an earlier run of the engine reported do not count", []string{machineCore, attachModel},
			machineCore, "Facts.engineReportsOutdated", "", "return false"),
		in("salvage waits", "the volume waits for a healthy replica on a down node instead of using failed ones", anyOf(machineCore, "488"), machineCore,
			"salvage.waitsForHealthy", "", "return false"),
		in("last modes", "the replica modes that the engine reported last are recorded before the volume is detached", anyOf(machineCore, "1280"),
			machineCore, "draft.failByLastModes", "", "return"),
	}
}

// ticketRules are those by which attach-controller chooses the node of a volume, and answers its tickets.
func ticketRules() []rule {
	const core = ticketCore
	return []rule{
		in("cordon refuses people", "a cordoned node refuses tickets of longhorn-api only", anyOf(core, "15"), core, "World.refusal",
			"node.Cordoned && t.Type == v1beta2.AttacherLonghornAPI", "node.Cordoned"),
		in("release unattached", "a node that went down before the volume was attached there loses it", anyOf(core, "386"), core,
			"table.unwanted", "lost := ", "lost := false && "),
		in("release down", "a node that is down loses a volume that is wanted elsewhere", anyOf(core, "198"), core, "table.yields",
			"if t.down(v.NodeID) || t.stranded() {", "if false {"),
		in("interrupt for selectable", "only tickets interrupt that could be served then", anyOf(core, "16"), core, "table.interrupts",
			" && t.selectable(x)", ""),
		in("interrupt for data", "restore and expansion interrupt, as workload does", anyOf(core, "424"), core, "table.interrupts",
			" || data(x.Type)", ""),
		in("interrupt for frontend", "a ticket interrupts that wants this node with the other frontend", anyOf(core, "285"), core,
			"table.interrupts", " || !Matches(x, v.DisableFrontend)", ""),
		in("roll back by table", "a migration that is rolled back follows the ordinary rows", []string{core}, core, "table.migration",
			"case v.confirming():", "case v.confirming(), v.Migrating():"),
		in("migration failures", "a migration ends whose source or target is down or failed", anyOf(core, "225"), core, "table.moves",
			"case !target, source && t.down(v.MigrationNodeID):", "case !target:").
			and(core, "table.moves", "case t.down(v.NodeID), !source &&", "case !source &&").
			and(core, "table.moves", "case t.engineOn(v.MigrationNodeID).State == v1beta2.InstanceStateError:", "case false:"),
		in("satisfied unchanged", "a ticket is satisfied only by what the same verdict does not change", anyOf(core, "12"), core,
			"table.satisfied", "unchanged := ", "unchanged := true || ").
			and(core, "table.satisfied", "stays := ", "stays := true || ").
			and(core, "table.steps", "= t.withoutRaised(changed), true", "= changed, true"),
		in("lower first", "lowered answers are written before Volume.spec", anyOf(core, "625"), core, "table.steps",
			"return []Step{answer, spec}", "return []Step{spec, answer}"),
		in("evaluated version", "a write is bound to the resourceVersion that was evaluated", []string{core}, core, "table.steps",
			"Step{Kind: StepSpec, AtVersion: true}", "Step{Kind: StepSpec}"),
	}
}
