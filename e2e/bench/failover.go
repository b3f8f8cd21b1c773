package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
)

// failover measures how long no replica evaluates instances after a leader ended, gracefully or not, with the default lease
// times: from the signal until an orphan is visible whose cause came right after the signal.
func failover(ctx context.Context, r *report) (err error) {
	flags := []string{"--log-format=text"}
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: threeNodes, Log: r.logf,
		Flags: map[string][]string{world.IMMonitor: flags}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	seen, err := watch(ctx, w)
	if err != nil {
		return err
	}
	leader := w.Process(world.IMMonitor)
	for _, c := range []struct {
		name, goal string
		end        func(*world.Process) error
	}{
		{"failover.graceful", "<= 3", (*world.Process).Stop},
		{"failover.crash", "<= 20", func(p *world.Process) error { p.Kill(); return nil }},
	} {
		var times []float64
		for run := range runs {
			standby, err := w.StartController(ctx, world.IMMonitor, fmt.Sprintf("-%s-%d", c.name, run))
			if err != nil {
				return err
			}
			// The standby is ready once its caches are synced.
			if err := w.WaitReady(ctx, standby, time.Minute); err != nil {
				return err
			}
			began := time.Now()
			go func() { _ = c.end(leader) }()
			stale, _, err := fromEvent(ctx, w, fmt.Sprintf("%s-%d-e-0", c.name[9:], run))
			if err != nil {
				return err
			}
			at, err := seen.wait(ctx, seen.seen, stale.Orphan())
			if err != nil {
				return err
			}
			times = append(times, at.Sub(began).Seconds())
			r.logf("  %s run %d of %d: %.2f s", c.name, run+1, runs, times[run])
			<-leader.Done()
			if err := w.Remove(leader); err != nil {
				return err
			}
			leader = standby
		}
		r.add(Result{Name: c.name, Value: median(times), Unit: "s", Goal: c.goal, Runs: runs, Spread: spread(times),
			Note: "default lease times; from the signal to the next orphan"})
	}
	return nil
}
