package main

import (
	"slices"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// mix is a cluster of which a part is of the earlier commit.
type mix struct {
	what string
	// then are the controllers of the earlier commit; definitions reports whether its definitions are used.
	then        []string
	definitions bool
	// topologies are those whose scenarios are run.
	topologies []scenarios.Topology
}

// controllers are all, each with the topologies in whose scenarios it has something to do.
var controllers = []struct {
	name       string
	topologies []scenarios.Topology
}{
	{world.IMMonitor, scenarios.Topologies},
	{world.OrphanController, []scenarios.Topology{scenarios.Orphans}},
	{world.AttachController, []scenarios.Topology{scenarios.Attached, scenarios.Snapshots, scenarios.Upgrades}},
	{world.SnapshotController, []scenarios.Topology{scenarios.Snapshots}},
	{world.UpgradeController, []scenarios.Topology{scenarios.Upgrades}},
}

func mixes() []mix {
	var out []mix
	var all []string
	for _, c := range controllers {
		all = append(all, c.name)
		out = append(out, mix{what: c.name + " earlier, the rest current", then: []string{c.name}, topologies: c.topologies})
	}
	for _, c := range controllers {
		rest := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == c.name })
		out = append(out, mix{what: c.name + " current, the rest earlier", then: rest, definitions: true, topologies: c.topologies})
	}
	return append(out,
		mix{what: "custom resource definitions earlier, controllers current", definitions: true, topologies: scenarios.Topologies},
		mix{what: "controllers earlier, custom resource definitions current", then: all, topologies: scenarios.Topologies})
}

// options are those of a World of the mix: old is the tree of the earlier commit.
func (m mix) options(topology scenarios.Topology, old string) world.Options {
	o := topology.Options()
	o.Sources = map[string]string{}
	for _, name := range m.then {
		o.Sources[name] = old
	}
	if m.definitions {
		o.Definitions = old
	}
	return o
}
