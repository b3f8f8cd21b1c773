package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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

// pause is one run of a scenario in which the leader of a controller is stopped by a signal, and later resumed.
type pause struct {
	scenario      scenarios.Scenario
	controller    string
	after, length time.Duration
}

// pauses runs o.pauses of them, drawn by the seed, in several control planes in parallel: two processes of each controller, with a
// cluster's lease times.
func (h *harness) pauses(ctx context.Context, o options) error {
	eligible := slices.Concat(catalog.Of(scenarios.Attached), catalog.Of(scenarios.Snapshots))
	eligible = slices.DeleteFunc(eligible, func(s scenarios.Scenario) bool { return o.scenario != "" && s.ID != o.scenario })
	random := rand.New(rand.NewPCG(o.seed, 1))
	var list []pause
	for range o.pauses {
		list = append(list, pause{scenario: eligible[random.IntN(len(eligible))],
			controller: world.EveryController()[random.IntN(len(world.EveryController()))],
			after:      time.Duration(random.Int64N(int64(20 * time.Second))), length: shortestPause +
				time.Duration(random.Int64N(int64(longestPause-shortestPause)))})
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range max(o.worlds, 1) {
		one := &harness{tally: h.tally, topology: scenarios.Upgrades}
		group.Go(func() error { return errors.Join(one.pauseAll(ctx, list, &next), one.stop()) })
	}
	return group.Wait()
}

func (h *harness) pauseAll(ctx context.Context, list []pause, next *atomic.Int64) error {
	w, err := world.Start(ctx, h.topology.Options())
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
		p, began := list[i], time.Now()
		h.missed, h.deaths = false, 0
		err := p.run(ctx, h)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name := fmt.Sprintf("leader of %s paused for %.0f s after %.0f s", p.controller, p.length.Seconds(), p.after.Seconds())
		h.count(i+1, len(list), testCase{scenario: p.scenario, name: name}, time.Since(began), err)
	}
}

// run runs the scenario while the leader is paused.
func (p pause) run(ctx context.Context, h *harness) error {
	ctx, cancel := context.WithTimeout(ctx, h.world.Stretched(6*time.Minute))
	defer cancel()
	began := time.Now()
	ended := make(chan error, 1)
	go func() {
		_, err := p.scenario.Run(ctx, h.world, nil)
		ended <- err
	}()
	pauseErr := p.pauseLeader(ctx, h)
	err := <-ended
	h.ran = time.Since(began)
	found := foundOf(checkLeases(h.world.API.Leases(), h.world.API.Writes()), began)
	return errors.Join(err, pauseErr, found, h.recover(ctx))
}

// pauseLeader stops the leader, resumes it, and starts it again once it has exited because it lost its lease.
func (p pause) pauseLeader(ctx context.Context, h *harness) error {
	if err := wait(ctx, p.after); err != nil {
		return err
	}
	leader, err := h.leader(p.controller)
	if err != nil {
		return err
	}
	if err := leader.Pause(); err != nil {
		return err
	}
	rested := wait(ctx, p.length)
	if err := errors.Join(rested, leader.Resume()); err != nil {
		return err
	}
	return restart(ctx, leader)
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
