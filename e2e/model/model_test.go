package model

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// limit bounds the memory of one exploration; with DROVER_MODEL=large the scopes are those of a long run.
const limit = 20_000_000

func large() bool { return os.Getenv("DROVER_MODEL") == "large" }

func scopes() []scope {
	list := []scope{
		{name: "v2, stale caches", v2: true, caches: true, budget: budget{changes: 2, faults: 1, deletions: 1}},
		{name: "v1, stale caches", caches: true, budget: budget{changes: 2, restarts: 1, deletions: 1}},
		{name: "v2, policy and restarts", v2: true, budget: budget{changes: 2, restarts: 1, faults: 1, flips: 1, deletions: 1}},
		{name: "v2, two leaders", v2: true, twoUUIDs: true, budget: budget{changes: 3, elections: 1, deletions: 1}},
		{name: "v1, two leaders, the name returns", twoUUIDs: true, budget: budget{changes: 3, restarts: 1, elections: 1, deletions: 1}},
		{name: "v2, a forgotten engine", v2: true, mapping: true, budget: budget{changes: 2, faults: 2, deletions: 1}},
	}
	if large() {
		for i := range list {
			list[i].budget.changes++
			list[i].budget.flips++
			list[i].budget.elections++
		}
	}
	return list
}

func TestEveryInterleavingKeepsTheInvariants(t *testing.T) {
	for _, s := range scopes() {
		t.Run(s.name, func(t *testing.T) {
			m := newMachine(s, noFault)
			r := explore(m, m.initial(), limit, "")
			t.Logf("%s: %d states, %d steps, %d distinct evaluations, %d distinct decisions, %s", s.name, r.states, r.steps,
				len(m.verdicts),
				len(m.decided), r.took)
			require.False(t, r.truncated)
			for invariant, trace := range r.traces {
				t.Errorf("%s is violated:\n  %s", invariant, strings.Join(trace, "\n  "))
			}
		})
	}
}

func TestEachMutantIsCaught(t *testing.T) {
	for injected, invariant := range faults {
		t.Run(string(injected), func(t *testing.T) {
			require.NotEmpty(t, catch(injected, invariant), "%s violates %s in no scope", injected, invariant)
		})
	}
}

// catch returns the shortest trace to the violation in the first scope that has one.
func catch(injected fault, invariant string) []string {
	for _, s := range scopes() {
		m := newMachine(s, injected)
		if trace := explore(m, m.initial(), limit, invariant).traces[invariant]; trace != nil {
			return trace
		}
	}
	return nil
}

// A name that a withdrawal or evidence frees while its call is out can be started by a new leader, and be hit.
func TestAnEndWrittenDuringACallIsCaught(t *testing.T) {
	require.NotEmpty(t, catch(endWrittenDuringCall, "ORP-1"))
}
