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

// trial is one telling of a Story under one trouble.
type trial struct {
	story scenarios.Story
	// name says what the trouble is.
	name string
	// arm is called when the stage is set; it causes the trouble, now or at a later step, and returns what ends it.
	arm func(context.Context, *harness, *scenarios.Scene) (func(context.Context) error, error)
}

// run tells the Story, checks the invariants and the end state, and leaves an empty stage.
func (t trial) run(ctx context.Context, h *harness) (failed error) {
	within := 3 * time.Minute
	if t.story.Cast >= scenarios.Upgrades { // three nodes, one after the other
		within = 6 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, h.world.Stretched(within))
	defer cancel()
	calm := func(context.Context) error { return nil }
	began := time.Now()
	_, told := t.story.Tell(ctx, h.world, func(scene *scenarios.Scene) (err error) {
		h.staged = time.Since(began)
		h.sequence().Reset(ofControllers)
		if t.arm != nil {
			calm, err = t.arm(ctx, h, scene)
		}
		return err
	})
	h.told = time.Since(began) - h.staged
	h.steps = h.sequence().Steps()
	h.sequence().Reset(ofControllers)
	if calm == nil {
		calm = func(context.Context) error { return nil }
	}
	return errors.Join(told, calm(ctx), h.recover(ctx))
}

// ofControllers numbers what the controllers do, not what people and the simulator do.
func ofControllers(s record.Step) bool {
	return slices.Contains(world.EveryController(), s.Actor)
}

// crash is the trial that kills the actor of a step on one side of it, and starts it again. The step is found by its number among those of its
// actor: what the others do meanwhile is never twice the same.
func crash(story scenarios.Story, at record.Step, side record.Side) trial {
	return trial{story: story, name: fmt.Sprintf("crash %s step %d of %s (%s)", side, at.Own, at.Actor, strings.TrimSpace(at.What)),
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

// points are the crash trials of a Story, from the steps of one telling without trouble.
func points(story scenarios.Story, steps []record.Step) []trial {
	var out []trial
	for _, step := range steps {
		if story.Point != nil && !story.Point(step) {
			continue
		}
		for _, side := range []record.Side{record.Before, record.After} {
			out = append(out, crash(story, step, side))
		}
	}
	return out
}
