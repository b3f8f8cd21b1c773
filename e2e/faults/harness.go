package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// harness runs trials in one World after the other. Several harnesses work side by side and share one tally.
type harness struct {
	*tally
	world *world.World
	// cast is that of its Worlds.
	cast scenarios.Cast
	// steps are those of the last trial.
	steps []record.Step
}

// tally counts what was tried, and prints it.
type tally struct {
	out   io.Writer
	began time.Time

	mutex      sync.Mutex
	points     int
	violations []string
}

func (h *harness) sequence() *record.Sequence { return h.world.Sequence }

func (t *tally) say(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.line(format, args...)
}

func (t *tally) line(format string, args ...any) {
	fmt.Fprintf(t.out, "%7.1fs  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

// count notes and prints the outcome of one trial.
func (t *tally) count(number, of int, told trial, took time.Duration, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.points++
	if err == nil {
		t.line("%4d/%d  %-4s ok %5.1fs  %s", number, of, told.story.ID, took.Seconds(), told.name)
		return
	}
	t.violations = append(t.violations, fmt.Sprintf("%s: %s: %v", told.story.ID, told.name, err))
	t.line("%4d/%d  %-4s VIOLATION  %s: %v", number, of, told.story.ID, told.name, err)
}

// start brings up a World with the plant's mistakes in it, or without any.
func (h *harness) start(ctx context.Context, overlay world.Overlay) error {
	options := h.cast.Options()
	options.Overlay, options.Lease = overlay, 2*time.Second
	// What no notice tells is found by the safety list; here sooner than after ten minutes.
	options.Flags = map[string][]string{world.IMMonitor: append(world.FastFlags(world.IMMonitor), "--safety-list-period=5s")}
	w, err := world.Start(ctx, options)
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
	h.count(number, of, t, time.Since(began), err)
	return nil
}

// recover leaves an empty stage with every controller running, whatever the trial did.
func (h *harness) recover(ctx context.Context) error {
	for _, name := range h.world.Controllers() {
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
