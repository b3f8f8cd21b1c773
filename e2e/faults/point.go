package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// testCase is one run of a scenario with one failure.
type testCase struct {
	scenario scenarios.Scenario
	// name describes the failure.
	name string
	// arm is called after the setup; it causes the failure, now or at a later step, and returns a function that ends it.
	arm func(context.Context, *harness, *scenarios.Scene) (func(context.Context) error, error)
}

// run runs the scenario, checks the invariants and the end state, and leaves an empty World.
func (t testCase) run(ctx context.Context, h *harness) (failed error) {
	within := 3 * time.Minute
	if t.scenario.Topology >= scenarios.Upgrades { // three nodes, one after the other
		within = 6 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, h.world.Stretched(within))
	defer cancel()
	calm := func(context.Context) error { return nil }
	began := time.Now()
	_, runErr := t.scenario.Run(ctx, h.world, func(scene *scenarios.Scene) (err error) {
		h.setUp = time.Since(began)
		h.sequence().Reset(ofControllers)
		if t.arm != nil {
			calm, err = t.arm(ctx, h, scene)
		}
		return err
	})
	h.ran = time.Since(began) - h.setUp
	h.steps = h.sequence().Steps()
	h.sequence().Reset(ofControllers)
	if calm == nil {
		calm = func(context.Context) error { return nil }
	}
	return errors.Join(runErr, calm(ctx), h.recover(ctx))
}

// ofControllers selects the steps of the controllers, not those of people and the simulator.
func ofControllers(s record.Step) bool {
	return slices.Contains(world.EveryController(), s.Actor)
}

// crash is the case that kills the actor of a step on one side of the step, and starts it again. The step is found by its number among
// those of its actor: the steps of other actors in between differ from run to run.
func crash(scenario scenarios.Scenario, at record.Step, side record.Side) testCase {
	return testCase{scenario: scenario, name: fmt.Sprintf("crash %s step %d of %s (%s)", side, at.Own, at.Actor,
		strings.TrimSpace(at.What)),
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			var reached atomic.Bool
			h.sequence().CutWhere(same(at), side, true, func(step record.Step) record.Verdict {
				reached.Store(true)
				h.kill(step.Actor)
				return record.Drop
			})
			return func(context.Context) error { h.missed = !reached.Load(); return nil }, nil
		}}
}

func same(at record.Step) func(record.Step) bool {
	return func(s record.Step) bool { return s.Actor == at.Actor && s.Own == at.Own }
}

// points are the crash cases of a scenario, from the steps of one run without failures.
func points(scenario scenarios.Scenario, steps []record.Step) []testCase {
	var out []testCase
	for _, step := range steps {
		if scenario.Point != nil && !scenario.Point(step) {
			continue
		}
		for _, side := range []record.Side{record.Before, record.After} {
			out = append(out, crash(scenario, step, side))
		}
	}
	return out
}
