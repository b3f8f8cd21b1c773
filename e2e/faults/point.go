package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	calm := func(context.Context) error { return nil }
	_, told := t.story.Tell(ctx, h.world, func(scene *scenarios.Scene) (err error) {
		h.sequence().Reset(ofControllers)
		if t.arm != nil {
			calm, err = t.arm(ctx, h, scene)
		}
		return err
	})
	h.steps = h.sequence().Steps()
	h.sequence().Reset(ofControllers)
	if calm == nil {
		calm = func(context.Context) error { return nil }
	}
	return errors.Join(told, calm(ctx), h.recover(ctx))
}

// ofControllers numbers what the controllers do, not what people and the simulator do.
func ofControllers(s record.Step) bool {
	switch s.Actor {
	case world.IMMonitor, world.OrphanController, world.AttachController, world.SnapshotController, world.UpgradeController:
		return true
	}
	return false
}

// crash is the trial that kills the actor of the n-th step on one side of it, and starts it again.
func crash(story scenarios.Story, n int, side record.Side, what string) trial {
	return trial{story: story, name: fmt.Sprintf("crash %s step %d (%s)", side, n, what),
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			h.sequence().CutAt(n, side, func(step record.Step) record.Verdict {
				process := h.world.Process(step.Actor)
				process.Kill()
				if err := process.Restart(); err != nil {
					h.say("restarting %s: %v", step.Actor, err)
				}
				return record.Drop
			})
			return nil, nil
		}}
}

// points are the crash trials of a Story, from the steps of one telling without trouble.
func points(story scenarios.Story, steps []record.Step) []trial {
	var out []trial
	for _, step := range steps {
		if story.Point != nil && !story.Point(step) {
			continue
		}
		for _, side := range []record.Side{record.Before, record.After} {
			out = append(out, crash(story, step.Number, side, strings.TrimSpace(step.What)))
		}
	}
	return out
}
