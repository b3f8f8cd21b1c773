package main

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
)

// sweeps are cases in each of which an actor crashes repeatedly: on one side of each stride-th of its steps. There is one for each
// remainder, so that together they cover every step. The actor must recover from a crash before the next one, a few steps later; so a
// crash sweep tests more than its points one by one, in a fraction of the time.
func sweeps(scenario scenarios.Scenario, steps []record.Step, stride int) []testCase {
	if stride <= 0 {
		return nil
	}
	var actors []string
	last := map[string]int{}
	for _, step := range steps {
		if last[step.Actor] == 0 {
			actors = append(actors, step.Actor)
		}
		last[step.Actor] = step.Own
	}
	var out []testCase
	for _, actor := range actors {
		for first := 1; first <= min(stride, last[actor]); first++ {
			out = append(out, sweep(scenario, actor, first, stride, record.Before), sweep(scenario, actor, first, stride, record.After))
		}
	}
	return out
}

// sweeping is how long an actor crashes repeatedly: an actor that writes after each start would otherwise never finish.
const sweeping = 2 * time.Minute

// sweep kills the actor at each stride-th of its steps from the first on, and starts it again: it takes its lease at once. With an expiring
// lease all other work would end meanwhile; single points test that.
func sweep(scenario scenarios.Scenario, actor string, first, stride int, side record.Side) testCase {
	return testCase{scenario: scenario, name: fmt.Sprintf("crashes %s each %dth step of %s from the %dth on", side, stride, actor, first),
		arm: func(_ context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			// At the end the actor runs without crashes, to show that all its work ends.
			crashes := h.world.CrashEach(actor, first, stride, side, sweeping, func() { h.kill(actor) })
			return func(context.Context) error {
				h.missed = crashes() == 0
				return nil
			}, nil
		}}
}
