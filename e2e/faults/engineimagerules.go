package main

// engineImageRules keep the binary of v1 engines where processes of it may have to start.
func engineImageRules() []rule {
	const core = "./im-monitor/internal/engineimage"
	tests := []string{core}
	return []rule{
		in("engine image counted", "an engine image goes only on references that were read for that", tests, core, "Decide",
			"case !w.References.Fresh:", "case false:"),
		in("engine image ended", "a deleted engine image goes only on references that were read for that", tests, core, "end",
			"if !w.References.Fresh {", "if false {"),
		in("engine image default", "the default engine image stays", tests, core, "World.heldBy",
			"case isDefault(w.Settings.EngineImage, w.Name):", "case false:"),
		in("engine image referenced", "an engine image stays while something refers to it", tests, core, "World.heldBy",
			"case w.References.Count > 0:", "case false:"),
		in("engine image undecided", "no engine image goes while no default is chosen", tests, core, "World.endsIn",
			`w.Settings.EngineImage == "" || `, ""),
		in("engine image adopted", "the DaemonSet of a Longhorn keeps what it has", tests, core, "World.Outdated", `made != "" && `, ""),
		in("engine image idle", "the pods of an engine image are not replaced for a setting while its processes run", tests, core,
			"World.daemonSetAction", "w.Outdated() && !w.References.Runs", "w.Outdated()"),
		in("engine image order", "an engine image is released after its DaemonSet is gone", tests, core, "end",
			"case w.DaemonSet == nil:", "case true:"),
		in("engine image on a node", "a node has an engine image once a pod of it is ready there", tests, core, "World.nodesWithBinary",
			"if p.Ready {", "{"),
		in("engine image placed", "a replica goes to no node that lacks its engine image", []string{placementCore}, placementCore,
			"search.nodeRefused", "case n.LacksImage:", "case false:"),
	}
}
