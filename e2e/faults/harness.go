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

// harness runs cases one after the other in one World. Several harnesses run in parallel and share one tally.
type harness struct {
	*tally
	world *world.World
	// topology is the topology of its Worlds.
	topology scenarios.Topology
	// steps are those of the last case; setUp and ran are the durations of its setup and of the rest; missed reports that its step was
	// never reached; deaths counts the kills of a controller.
	steps      []record.Step
	setUp, ran time.Duration
	missed     bool
	deaths     int
}

// tally counts the results of the cases, and prints them.
type tally struct {
	out   io.Writer
	began time.Time

	mutex      sync.Mutex
	points     int
	unreached  int
	killed     int
	violations []string
}

func (h *harness) sequence() *record.Sequence { return h.world.Sequence }

func (t *tally) logf(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.line(format, args...)
}

func (t *tally) line(format string, args ...any) {
	fmt.Fprintf(t.out, "%7.1fs  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

// count records and prints the result of one case.
func (h *harness) count(number, of int, c testCase, took time.Duration, err error) {
	t := h.tally
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.killed += h.deaths
	switch {
	case err != nil:
		t.points++
		t.violations = append(t.violations, fmt.Sprintf("%s: %s: %v", c.scenario.ID, c.name, err))
		t.line("%4d/%d  %-4s VIOLATION  %s: %v", number, of, c.scenario.ID, c.name, err)
	case h.missed:
		t.unreached++
		t.line("%4d/%d  %-4s never reached  %s", number, of, c.scenario.ID, c.name)
	default:
		t.points++
		t.line("%4d/%d  %-4s ok %5.1fs = %.1f + %.1f + %.1f, %d died  %s", number, of, c.scenario.ID,
			took.Seconds(), h.setUp.Seconds(), h.ran.Seconds(), (took - h.setUp - h.ran).Seconds(), h.deaths, c.name)
	}
}

// start starts a World with the edits of a mutant, or without any.
func (h *harness) start(ctx context.Context, overlay world.Overlay) error {
	options := h.topology.Options()
	options.Overlay, options.Lease = overlay, 2*time.Second
	// A change without an event is found by the periodic resync; here sooner than after ten minutes.
	options.Flags = map[string][]string{world.IMMonitor: {"--safety-list-period=5s"}}
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

// try runs a case and counts it.
func (h *harness) try(ctx context.Context, number, of int, t testCase) error {
	began := time.Now()
	h.missed, h.deaths = false, 0
	err := t.run(ctx, h)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	h.count(number, of, t, time.Since(began), err)
	return nil
}

// kill kills a controller, and starts it again.
func (h *harness) kill(actor string) {
	h.deaths++
	if err := h.world.Process(actor).Crash(); err != nil {
		h.logf("restarting %s: %v", actor, err)
	}
}

// recover empties the World and restarts controllers that ended, whatever the case did.
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
