package main

import "drover.dev/drover/e2e/world"

// mutant is a mistake, put into a copy of the source that only this build sees. If the harness does not notice it, the
// harness is worth nothing.
type mutant struct {
	name, sentence string
	edits          []world.Edit
	// testCase tells what must catch it: a scenario, told under the given trouble.
	testCase testCase
}
