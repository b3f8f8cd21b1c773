package main

import "slices"

// ticketsCore decides which tickets the volume's own work has, and where.
const ticketsCore = "./attach-controller/internal/ticket"

const attachWorld = "./attach-controller/internal/model -run=TestEveryWorld -worlds=1 -first="

// attachRules are the rules by which a volume gets a node, and is attached and detached, each with edits that disable it.
func attachRules() []rule {
	return slices.Concat(ticketRules(), volumeRules(), migrationRules(), orderOfConcerns())
}

// alsoWorld demands that a world of the model is bad without the rule, too: this one, or one of many if a change of the model changed it.
func (r rule) alsoWorld(seed string) rule {
	r.model = []string{attachWorld + seed, attachModel}
	return r
}

// volumeRules are those by which attach-controller attaches and detaches a volume.
func volumeRules() []rule {
	return []rule{
		in("nothing elsewhere", "no engine starts while another engine or frontend of the volume may run on another node [ATT-1]",
			[]string{machineCore}, machineCore, "Facts.runsElsewhere", "", "return false"),
		in("states known", "no engine starts while the state of another engine or frontend of the volume is unknown [ATT-1]",
			[]string{machineCore}, machineCore, "opening.statesKnown", "", "return true"),
		in("no replica to use", "a volume that no replica can serve names them", []string{machineCore}, machineCore, "opening.startReplicas",
			"return nil, o.wait(v1beta2.ReasonNoUsableReplica, o.noReplicaReason())", "return nil, false").alsoWorld("74"),
		in("creating closes", "a volume in state creating closes first, on whichever node it is wanted", []string{machineCore}, machineCore,
			"lifecycle.create", "if (closing{l.draft}).close() {", "if true {"),
		in("creating ends", "a volume in state creating is detached once it is closed", []string{machineCore}, machineCore,
			"lifecycle.create", "", "return").alsoWorld("43"),
		in("unstartable replicas", "a replica that fails while the volume is attaching has failed", []string{machineCore}, machineCore,
			"replicaHealth.failUnstartable", "", "return").alsoWorld("221"),
		in("down nodes delay nothing", "an instance on a down node does not delay the next step of closing", []string{machineCore}, machineCore,
			"draft.stopInstances", "if i := ofFrontend(f); !d.stopped(i) && !d.nodeDown(i.node) {", "if i := ofFrontend(f); !d.stopped(i) {").
			and(machineCore, "draft.stopInstances", "if i := ofEngine(e); !d.stopped(i) && !d.nodeDown(i.node) {",
				"if i := ofEngine(e); !d.stopped(i) {").alsoWorld("40"),
		in("unreachable replicas before reachable ones stop", "replicas on down nodes are marked as failed before the first reachable one "+
			"is stopped", []string{machineCore, attachModel}, machineCore, "closing.failUnreachableReplicas", "", "return"),
		in("engines of frontends that stay", "the engine of a frontend that nobody deleted does not stop without its volume",
			[]string{machineCore}, machineCore, "previousVolume.led", "", "return false"),
		in("replicas of engines that stay", "a replica of an engine that nobody deleted does not stop without its volume",
			[]string{machineCore}, machineCore, "previousVolume.serves", "", "return false"),
		in("only what is deleted", "a frontend that nobody deleted does not stop without its volume",
			[]string{machineCore}, machineCore, "previousVolume.decide",
			"if f.DeletionTimestamp != nil {", "if true {"),
		in("reports of this run", "replica modes that an earlier run of the engine reported do not count", []string{machineCore, attachModel},
			machineCore, "Facts.engineReportsOutdated", "", "return false"),
		in("salvage waits", "the volume waits for a healthy replica on a down node instead of using failed ones",
			[]string{machineCore}, machineCore, "salvage.unreachableHealthy", "", "return nil").alsoWorld("7404"),
		in("last modes", "the replica modes that the engine reported last are recorded before the volume is detached", []string{machineCore},
			machineCore, "draft.failByLastModes", "", "return").alsoWorld("1280"),
		in("last copy serves", "a replica that is being deleted and is the last copy serves", []string{machineCore}, machineCore,
			"Facts.isLastCopy", "", "return false"),
		in("left behind", "an engine runs without a deleted replica only after that was recorded", []string{machineCore}, machineCore,
			"draft.leaveBehind", "", "return false"),
		in("dropped beside a deleted one", "a replica is marked that its engine dropped while a deleted one served", []string{machineCore},
			machineCore, "Facts.servesBesides", "", "return false"),
		in("suspended before the fail over", "what a target acknowledges after the fail-over began is kept",
			[]string{"./attach-controller/internal/model -run=TestNothingIsLostInAFailOver"}, machineCore, "ioSuspension.suspendIO", "",
			"return true").
			shows("but was DATA: what a target acknowledged after the fail-over began is lost"),
	}
}

// ticketRules are those by which attach-controller chooses the node of a volume, and answers its tickets.
func ticketRules() []rule {
	const core = ticketCore
	return []rule{
		in("a lasting reason", "a ticket of a faulted volume names what a person or a node has to do", []string{core}, core, "table.why",
			"return v1beta2.ReasonVolumeFaulted, ", "return v1beta2.ReasonAttaching, ").alsoWorld("33"),
		in("released first", "a volume gets another node once it is on none [ATT-1]", []string{core}, core, "table.awaitsRelease",
			"if t.Volume.attachableAnywhere() {", "if true {"),
		in("cordon refuses people", "a cordoned node refuses tickets of longhorn-api only", []string{core}, core, "World.refusal",
			"node.Cordoned && t.Type == v1beta2.AttacherLonghornAPI", "node.Cordoned").alsoWorld("15"),
		in("release unattached", "a node that went down before the volume was attached there loses it", []string{core}, core,
			"table.unwanted", "lost := ", "lost := false && ").alsoWorld("386"),
		in("release down", "a node that is down loses a volume that is wanted elsewhere", []string{core}, core, "table.yields",
			"if t.down(v.NodeID) || t.stranded() {", "if false {").alsoWorld("198"),
		in("interrupt for selectable", "only tickets interrupt that could be served then", []string{core}, core, "table.interrupts",
			" && t.selectable(x)", "").alsoWorld("16"),
		in("interrupt for ready", "a ticket for a node that is not ready interrupts nothing on a node that is", []string{core}, core,
			"table.interrupts", " || !t.serves(v.NodeID)", " || true"),
		in("interrupt for data", "restore and expansion interrupt, as workload does", []string{core}, core, "table.interrupts",
			" || data(x.Type)", "").alsoWorld("424"),
		in("not from a user", "the volume's own data takes it from no user, even if the user's node is down", []string{core}, core,
			"table.interrupts", " && !t.inUse()", ""),
		in("work follows its user", "the volume's own work is where a user holds the volume, even if that node is down",
			[]string{ticketsCore}, ticketsCore, "World.place", " || w.usedOn(at)", ""),
		in("work joins its user", "the volume's own work is where a user waits for the volume", []string{ticketsCore}, ticketsCore,
			"World.place", `if at := w.waitedForOn(); at != "" {`, `if at := w.waitedForOn(); at == "never" {`),
		in("new mounts", "users who lose a volume that they still want get new mounts", []string{machineCore}, machineCore,
			"Facts.losesUsers", "", "return false"),
		in("tickets uncached", "that a user still wants the volume is read uncached", []string{machineCore}, machineCore,
			"remount.decide", "r.out.Fresh, r.out.FreshAttachment = true, true", ""),
		in("interrupt for frontend", "a ticket interrupts that wants this node with the other frontend", []string{core}, core,
			"table.interrupts", " || !Matches(x, v.DisableFrontend)", "").alsoWorld("285"),
		in("roll back by table", "a migration that is rolled back follows the ordinary rows", []string{core}, core, "table.migration",
			"case v.confirming():", "case v.confirming(), v.Migrating():"),
		in("migration failures", "a migration ends whose source or target is down or failed", []string{core}, core, "table.moves",
			"case !target, source && t.down(v.MigrationNodeID):", "case !target:").
			and(core, "table.moves", "case t.down(v.NodeID), !source &&", "case !source &&").
			and(core, "table.moves", `case t.engineOn(v.MigrationNodeID).State == v1beta2.InstanceStateError, v.MigrationFailed != "":`,
				"case false:").alsoWorld("4449"),
		in("target back first", "a volume migrates once its relocated target is back", []string{core}, core, "table.migrates",
			" && !v.Relocated", ""),
		in("waits detached", "a volume that is on its way when the upgrade of its node begins is detached", []string{core}, core,
			"table.unwanted", " || v.Upgrading && t.Nodes[v.NodeID].Upgrading", ""),
		in("satisfied unchanged", "a ticket is satisfied only by what the same verdict does not change", []string{core}, core,
			"table.satisfied", "unchanged := ", "unchanged := true || ").
			and(core, "table.migratedTo", "stays := ", "stays := true || ").
			and(core, "table.steps", "= t.withoutRaised(changed), true", "= changed, true").alsoWorld("12"),
		in("lower first", "lowered answers are written before Volume.spec", []string{core}, core, "table.steps",
			"return []Step{answer, spec}", "return []Step{spec, answer}").alsoWorld("625"),
		in("evaluated version", "a write is bound to the resourceVersion that was evaluated", []string{core}, core, "table.steps",
			"Step{Kind: StepSpec, AtVersion: true}", "Step{Kind: StepSpec}").
			and(core, "table.steps", "= raises || lowers, raises", "= false, raises && false").
			and(core, "table.steps", "= t.withoutRaised(changed), true", "= t.withoutRaised(changed), false"),
	}
}

// orderOfConcerns are the entries of the volume machine's list whose position or gate is a rule.
func orderOfConcerns() []rule {
	const file = machineCore + "/decide.go"
	tests := []string{machineCore, attachModel}
	// later moves an entry of the list behind another one.
	later := func(name, sentence, entry, behind string) rule {
		r := off(name, sentence, tests, file, "\t"+entry+",\n", "")
		r.edits = append(r.edits, off("", "", nil, file, "\t"+behind+",\n", "\t"+behind+",\n\t"+entry+",\n").edits...)
		return r
	}
	// earlier moves an entry of the list before another one.
	earlier := func(name, sentence, entry, before string) rule {
		r := off(name, sentence, tests, file, "\t"+entry+",\n", "")
		r.edits = append(r.edits, off("", "", nil, file, "\t"+before+",\n", "\t"+entry+",\n\t"+before+",\n").edits...)
		return r
	}
	return []rule{
		later("target move before membership", "no replica joins the engine in the evaluation that creates the second one",
			"{Facts.targetMayMove, of[targetMove]}", "{Facts.unchanging, of[membership]}"),
		earlier("notices last", "a notice does not hide what the volume waits for", "{Facts.kept, of[imageNotice]}",
			"{Facts.kept, of[lifecycle]}"),
		later("target move before resumption", "I/O does not resume in the evaluation in which a fail-over goes on",
			"{Facts.targetMayMove, of[targetMove]}", "{Facts.kept, of[resumption]}"),
		later("salvage after instances", "a faulted volume is used again once it is detached", "{Facts.kept, of[lifecycle]}",
			"{Facts.kept, of[salvage]}"),
		in("migration after the target", "where a migration is wanted, a target that is away comes back first", tests, machineCore,
			"Facts.targetMayMove", " || f.targetAway()", ""),
		in("marked at the start", "a replica on a node that is down fails when the engine starts without it, not before", tests, machineCore,
			"opening.startReplicas", "if ready {", "if true {"),
		in("migrations gate changes", "replicas and sizes do not change while a volume migrates", tests, machineCore, "Facts.unchanging",
			` && f.migration == "" && f.Volume.Spec.MigrationNodeID == ""`, ""),
	}
}
