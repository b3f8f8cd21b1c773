package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// staleFor is how long a cache stays stale: longer than the uninterrupted work of a scenario. A mutant must be detected while its cache
// is stale, however slow the machine is: it has longer, and ends as soon as it is detected.
const (
	staleFor       = 3 * time.Second
	staleForMutant = 30 * time.Second
)

// staleReads keeps one controller's cache of some kinds stale while the scenario acts, and a while longer.
func staleReads(scenario scenarios.Scenario, user string, resources ...string) testCase {
	return staleReadsFor(staleFor, scenario, user, resources...)
}

func staleReadsFor(last time.Duration, scenario scenarios.Scenario, user string, resources ...string) testCase {
	return testCase{scenario: scenario, name: fmt.Sprintf("stale cache of %s: %v", user, resources),
		arm: func(_ context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			for _, resource := range resources {
				h.world.API.HoldWatches(user, resource)
			}
			release := sync.OnceFunc(func() {
				for _, resource := range resources {
					h.world.API.ReleaseWatches(user, resource)
				}
			})
			time.AfterFunc(last, release)
			return func(context.Context) error { release(); return nil }, nil
		}}
}

// leaderPaused starts a second process of the actor, pauses the leader at a step, lets the other process become leader
// and finish the scenario, and then resumes the old leader in the middle of its step. The step itself is late, like a
// request that was delayed in a socket.
func leaderPaused(scenario scenarios.Scenario, at record.Step, side record.Side) testCase {
	return testCase{scenario: scenario, name: fmt.Sprintf("leader paused %s step %d of %s (%s), another takes over", side, at.Own, at.Actor,
		at.What),
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			paused := make(chan frozen, 1)
			resumed := make(chan struct{})
			h.sequence().CutWhere(same(at), side, true, func(step record.Step) record.Verdict {
				old := h.world.Process(step.Actor)
				if err := old.Pause(); err != nil {
					h.logf("pausing %s: %v", step.Actor, err)
				}
				paused <- frozen{old, time.Now()}
				<-resumed
				return record.Pass
			})
			standby := map[string]*world.Process{}
			for _, name := range h.world.Controllers() {
				process, err := h.world.StartController(ctx, name, "-standby")
				if err != nil {
					return nil, err
				}
				standby[name] = process
			}
			return func(ctx context.Context) error { return resumeLeader(ctx, h, paused, resumed, standby) }, nil
		}}
}

// frozen is a leader that was paused.
type frozen struct {
	*world.Process
	since time.Time
}

// takeover is longer than a lease and the time until the next leader sees that the lease expired.
const takeover = 6 * time.Second

// resumeLeader resumes the old leader after the scenario has ended, and leaves one process of each controller.
func resumeLeader(ctx context.Context, h *harness, paused chan frozen, resumed chan struct{}, standby map[string]*world.Process) error {
	select {
	case old := <-paused:
		// The scenario may have ended without a new leader.
		if err := wait(ctx, time.Until(old.since.Add(takeover))); err != nil {
			return err
		}
		close(resumed)
		if err := old.Resume(); err != nil {
			return err
		}
		if err := restart(ctx, old.Process); err != nil {
			return err
		}
	default: // the step was never reached
		close(resumed)
	}
	for _, process := range standby {
		if err := h.world.Remove(process); err != nil {
			return err
		}
	}
	return nil
}

// restart waits until a leader that lost its lease exits, and starts it again.
func restart(ctx context.Context, old *world.Process) error {
	select {
	case <-old.Done():
		return old.Restart()
	case <-time.After(time.Minute):
		return fmt.Errorf("%s did not notice within a minute that it had lost its lease", old.Name)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// simulated lets the data plane misbehave from the setup until the scenario has ended, or for a while.
func simulated(scenario scenarios.Scenario, name string, inject func(context.Context, *world.World) error) testCase {
	return testCase{scenario: scenario, name: "simulator: " + name,
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			if err := inject(ctx, h.world); err != nil {
				return nil, err
			}
			healed := make(chan error, 1)
			heal := sync.OnceFunc(func() { healed <- h.world.Heal(context.WithoutCancel(ctx)) })
			time.AfterFunc(staleFor, heal)
			return func(context.Context) error { heal(); return <-healed }, nil
		}}
}
