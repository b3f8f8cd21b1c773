package main

import "drover.dev/drover/e2e/world"

// mutant is a mistake in a copy of the source that only this build uses. The harness must detect it.
type mutant struct {
	name, sentence string
	edits          []world.Edit
	// testCase must catch the mutant: a scenario, run with the given failure.
	testCase testCase
}
