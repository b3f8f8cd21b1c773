package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/catalog"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// standby is the suffix of the name of each controller's second process.
const standby = "-standby"

// The shortest and the longest pause of a leader, with a cluster's lease times.
const shortestPause, longestPause = 20 * time.Second, 60 * time.Second

// clockJumps are how far a leader's clock jumps, there and back after the shortest to the longest jump.
var clockJumps = []time.Duration{-2 * time.Hour, -5 * time.Minute, -30 * time.Second, -3 * time.Second,
	3 * time.Second, 30 * time.Second, 5 * time.Minute, 2 * time.Hour}

const shortestJump, longestJump = 10 * time.Second, 40 * time.Second

// afterJump is how long a leader must go on after its clock was set back: longer than the interval of renewals.
const afterJump = 5 * time.Second

// disturbance is one run of a scenario in which something happens to the leader of a controller.
type disturbance struct {
	scenario   scenarios.Scenario
	controller string
	after      time.Duration
	// what happens, in words; apply lets it happen, and ends it.
	what  string
	apply func(context.Context, *harness, *world.Process) error
}

// pauses runs o.pauses scenarios, drawn by the seed, in each of which a leader is stopped by a signal, and later resumed.
func (h *harness) pauses(ctx context.Context, o options) error {
	return h.disturb(ctx, o, o.pauses, nil, func(random *rand.Rand, d *disturbance) {
		length := between(random, shortestPause, longestPause)
		d.what = fmt.Sprintf("paused for %.0f s", length.Seconds())
		d.apply = func(ctx context.Context, _ *harness, leader *world.Process) error {
			if err := leader.Pause(); err != nil {
				return err
			}
			rested := wait(ctx, length)
			if err := errors.Join(rested, leader.Resume()); err != nil {
				return err
			}
			return restart(ctx, leader)
		}
	})
}

// jumps runs o.jumps scenarios, drawn by the seed, in each of which the wall clock of a leader jumps, and later jumps back.
func (h *harness) jumps(ctx context.Context, o options) error {
	overlay, err := world.ShiftableClocks(ctx)
	if err != nil {
		return err
	}
	h.logf("building controllers whose clocks can be set: some minutes the first time")
	return h.disturb(ctx, o, o.jumps, overlay, func(random *rand.Rand, d *disturbance) {
		offset, length := clockJumps[random.IntN(len(clockJumps))], between(random, shortestJump, longestJump)
		d.what = fmt.Sprintf("has its clock set by %s for %.0f s", offset, length.Seconds())
		d.apply = func(ctx context.Context, h *harness, leader *world.Process) error {
			since, ended := time.Now(), leader.Done()
			if err := leader.SetClock(offset); err != nil {
				return err
			}
			err := errors.Join(wait(ctx, length), leader.SetClock(0), wait(ctx, afterJump))
			select {
			case <-ended: // the next one is started by the World, as by a kubelet
				err = errors.Join(err, fmt.Errorf("%s ended when its clock was set by %s, or back", leader.Name, offset))
			default:
			}
			if !shows(h.world.API.Leases(), leader.Source, offset, since) {
				err = errors.Join(err, fmt.Errorf("no renewal of %s shows that its clock was set by %s", leader.Name, offset))
			}
			return err
		}
	})
}

func between(random *rand.Rand, shortest, longest time.Duration) time.Duration {
	return shortest + time.Duration(random.Int64N(int64(longest-shortest)))
}

// disturb runs count scenarios, drawn by the seed, in several control planes in parallel: two processes of each controller, with a
// cluster's lease times. draw adds what happens.
func (h *harness) disturb(ctx context.Context, o options, count int, overlay world.Overlay, draw func(*rand.Rand, *disturbance)) error {
	eligible := slices.Concat(catalog.Of(scenarios.Attached), catalog.Of(scenarios.Snapshots))
	eligible = slices.DeleteFunc(eligible, func(s scenarios.Scenario) bool { return o.scenario != "" && s.ID != o.scenario })
	controllers := slices.DeleteFunc(world.EveryController(), func(name string) bool { return o.actor != "" && name != o.actor })
	if len(eligible) == 0 || len(controllers) == 0 {
		return fmt.Errorf("no scenario %q of attached volumes or snapshots, or no controller %q: the controllers are %s", o.scenario, o.actor,
			strings.Join(world.EveryController(), ", "))
	}
	random := rand.New(rand.NewPCG(o.seed, 1))
	var list []disturbance
	for range count {
		d := disturbance{scenario: eligible[random.IntN(len(eligible))], controller: controllers[random.IntN(len(controllers))],
			after: between(random, 0, 20*time.Second)}
		draw(random, &d)
		list = append(list, d)
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(max(o.worlds, 1), count) {
		one := &harness{tally: h.tally, topology: scenarios.Upgrades}
		group.Go(func() error { return errors.Join(one.disturbAll(ctx, list, overlay, &next), one.stop()) })
	}
	return group.Wait()
}

func (h *harness) disturbAll(ctx context.Context, list []disturbance, overlay world.Overlay, next *atomic.Int64) error {
	options := h.topology.Options()
	options.Overlay = overlay
	w, err := world.Start(ctx, options)
	h.world = w
	if err != nil {
		return err
	}
	for _, controller := range w.Controllers() {
		if _, err := w.StartController(ctx, controller, standby); err != nil {
			return err
		}
	}
	for {
		i := int(next.Add(1)) - 1
		if i >= len(list) {
			return nil
		}
		d, began := list[i], time.Now()
		h.missed, h.deaths = false, 0
		err := d.run(ctx, h)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name := fmt.Sprintf("leader of %s %s after %.0f s", d.controller, d.what, d.after.Seconds())
		h.count(i+1, len(list), testCase{scenario: d.scenario, name: name}, time.Since(began), err)
	}
}

// run runs the scenario while the leader is disturbed.
func (d disturbance) run(ctx context.Context, h *harness) error {
	ctx, cancel := context.WithTimeout(ctx, h.world.Stretched(6*time.Minute))
	defer cancel()
	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		_, err := d.scenario.Run(ctx, h.world, nil)
		ended <- err
	}()
	disturbed := d.disturbLeader(ctx, h)
	err := <-ended
	h.ran = time.Since(began)
	found := foundOf(checkLeases(h.world.API.Leases(), h.world.API.Writes()), began)
	return errors.Join(err, disturbed, found, h.recover(ctx))
}

func (d disturbance) disturbLeader(ctx context.Context, h *harness) error {
	if err := wait(ctx, d.after); err != nil {
		return err
	}
	leader, err := h.leader(d.controller)
	if err != nil {
		return err
	}
	return d.apply(ctx, h, leader)
}

// leader is the process that wrote the controller's lease last.
func (h *harness) leader(controller string) (*world.Process, error) {
	for _, w := range slices.Backward(h.world.API.Leases()) {
		if w.Object != leaseOf(controller) || w.Code >= 300 {
			continue
		}
		for _, name := range []string{controller, controller + standby} {
			if process := h.world.Process(name); process != nil && process.Source == w.Source {
				return process, nil
			}
		}
	}
	return nil, fmt.Errorf("no process holds the lease of %s", controller)
}

func leaseOf(controller string) string { return "drover-" + controller }

// foundOf returns the findings since a time.
func foundOf(findings []finding, since time.Time) error {
	var out []error
	for _, f := range findings {
		if f.at.After(since) {
			out = append(out, errors.New(f.what))
		}
	}
	return errors.Join(out...)
}
