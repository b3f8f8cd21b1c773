package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// harness runs trials in one World after the other.
type harness struct {
	out   io.Writer
	began time.Time
	world *world.World
	// steps are those of the last trial.
	steps []record.Step
	tally tally
}

// tally counts what was tried.
type tally struct {
	points     int
	violations []string
}

func (h *harness) sequence() *record.Sequence { return h.world.Sequence }

func (h *harness) say(format string, args ...any) {
	fmt.Fprintf(h.out, "%7.1fs  %s\n", time.Since(h.began).Seconds(), fmt.Sprintf(format, args...))
}

// start brings up a World with the plant's mistakes in it, or without any.
func (h *harness) start(ctx context.Context, overlay world.Overlay) error {
	w, err := world.Start(ctx, world.Options{Nodes: scenarios.Nodes, Record: true, Overlay: overlay})
	h.world = w
	return err
}

func (h *harness) stop() error {
	if h.world == nil {
		return nil
	}
	w := h.world
	h.world = nil
	return w.Close()
}

// try runs a trial and counts it.
func (h *harness) try(ctx context.Context, number, of int, t trial) error {
	began := time.Now()
	err := t.run(ctx, h)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	h.tally.points++
	if err != nil {
		h.tally.violations = append(h.tally.violations, fmt.Sprintf("%s: %s: %v", t.story.ID, t.name, err))
		h.say("%4d/%d  %-4s VIOLATION  %s: %v", number, of, t.story.ID, t.name, err)
		return nil
	}
	h.say("%4d/%d  %-4s ok %5.1fs  %s", number, of, t.story.ID, time.Since(began).Seconds(), t.name)
	return nil
}

// recover leaves an empty stage with both controllers running, whatever the trial did.
func (h *harness) recover(ctx context.Context) error {
	for _, name := range []string{world.IMMonitor, world.OrphanController} {
		process := h.world.Process(name)
		select {
		case <-process.Done():
			if err := process.Restart(); err != nil {
				return err
			}
		default:
		}
	}
	return h.world.Sweep(ctx)
}
