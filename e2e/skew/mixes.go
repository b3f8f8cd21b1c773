package main

import (
	"slices"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// mix is a cluster of which a part is as it was at the earlier commit.
type mix struct {
	what string
	// then are the controllers of the earlier commit, and whether its definitions are there.
	then        []string
	definitions bool
	// topologies are those whose scenarios are told.
	topologies []scenarios.Topology
}

// controllers are all, and the casts in whose scenarios each has something to do.
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
		out = append(out, mix{what: c.name + " of then, the rest of now", then: []string{c.name}, topologies: c.topologies})
	}
	for _, c := range controllers {
		rest := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == c.name })
		out = append(out, mix{what: c.name + " of now, the rest of then", then: rest, definitions: true, topologies: c.topologies})
	}
	return append(out,
		mix{what: "custom resource definitions of then, controllers of now", definitions: true, topologies: scenarios.Topologies},
		mix{what: "controllers of then, custom resource definitions of now", then: all, topologies: scenarios.Topologies})
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
