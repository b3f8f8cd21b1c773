package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
)

// sweeps are trials in each of which an actor dies again and again: on one side of each stride-th of its steps. One for each remainder, so
// that together they have every step in them. What a crash leaves behind must be mended before the next one, a few steps later; so a comb
// asks for more than its points one by one, and for a fraction of the time.
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

// sweeping is how long an actor dies again and again: one that writes more after each start is never done else.
const sweeping = 2 * time.Minute

// sweep kills the actor at each stride-th of its steps from the first on, and starts it again: it takes its lease back at once. Who waits
// for it to run out sees everything else come to rest, which is what single points are for.
func sweep(scenario scenarios.Scenario, actor string, first, stride int, side record.Side) testCase {
	return testCase{scenario: scenario, name: fmt.Sprintf("crashes %s each %dth step of %s from the %dth on", side, stride, actor, first),
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			var mutex sync.Mutex
			died, began := 0, time.Now()
			before := first - stride
			h.sequence().CutWhere(func(s record.Step) bool { return s.Actor == actor && s.Own >= first }, side, false,
				func(step record.Step) record.Verdict {
					mutex.Lock()
					defer mutex.Unlock()
					// Also what was under way when it died last; and in the end it is let alone, to show that all of it ends.
					if step.Own < before+stride || time.Since(began) > sweeping {
						return record.Pass
					}
					before = step.Own
					died++
					h.kill(actor)
					return record.Drop
				})
			return func(context.Context) error {
				mutex.Lock()
				defer mutex.Unlock()
				h.missed = died == 0
				return nil
			}, nil
		}}
}
