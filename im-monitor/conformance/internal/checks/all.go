// Package checks is the list of behaviours of instance managers that Drover relies on, one check each. Checks talk to the managers on the wire
// alone; what they make is named after the run and removed at the end of the check.
package checks

import (
	"slices"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// All are the checks in the order in which they run.
func All() []suite.Check {
	return slices.Concat(wire(), v1Life(), v1Arguments(), v1Engines(), v1Snapshots(), v1Limits(), v1Rebuilds(), v1Expansion(), v1Faults())
}

// RealOnly are the behaviours that no simulator proves.
func RealOnly() []suite.RealOnly { return nil }

// Sections of the contract. Those of the wire contract are its headings, the others are the numbered sections of its completion.
const (
	onPorts     = "Where and how"
	onSemantics = "Semantics"
	onCreating  = "Creating instances"
	onDisks     = "1"
	onStart     = "4"
	onLimits    = "5"
	onRestarts  = "11"
	onSwitch    = "12"
	onFacts     = "13"
)

// needs is a list that reads well.
func needs(n ...suite.Need) []suite.Need { return n }
