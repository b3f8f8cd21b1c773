// Package catalog lists all scenarios that tolerate a crash at any step.
package catalog

import (
	"slices"

	"drover.dev/drover/e2e/attach"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/snapshot"
	"drover.dev/drover/e2e/upgrade"
)

// Of returns the scenarios of one topology, in their order.
func Of(topology scenarios.Topology) []scenarios.Scenario {
	all := slices.Concat(scenarios.Scenarios(), attach.Scenarios(), snapshot.Scenarios(), upgrade.Scenarios())
	return slices.DeleteFunc(all, func(s scenarios.Scenario) bool { return s.Topology != topology })
}
