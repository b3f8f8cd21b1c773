package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/catalog"
	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// allPoints runs the scenarios of one topology after the other: each topology has its own Worlds.
func (h *harness) allPoints(ctx context.Context, o options) error {
	var topologies [][]scenarios.Scenario
	for _, topology := range scenarios.Topologies {
		if list := chosen(o.scenario, topology); len(list) > 0 {
			topologies = append(topologies, list)
		}
	}
	for n, list := range topologies {
		h.topology = list[0].Topology
		deadline := time.Time{}
		if o.budget > 0 {
			// Six tenths of the time in equal parts, the rest for the mutants.
			deadline = h.began.Add(o.budget * 6 / 10 * time.Duration(n+1) / time.Duration(len(topologies)))
		}
		if err := h.runAll(ctx, o, list, deadline); err != nil {
			return err
		}
	}
	h.topology = scenarios.Orphans
	return nil
}

// runAll runs every scenario once to record its steps, then runs all cases, or a sample of them, in several Worlds in
// parallel.
func (h *harness) runAll(ctx context.Context, o options, list []scenarios.Scenario, deadline time.Time) error {
	if err := h.start(ctx, nil); err != nil {
		return err
	}
	var testCases []testCase
	for _, scenario := range list {
		if err := h.try(ctx, 0, 0, testCase{scenario: scenario, name: "undisturbed"}); err != nil {
			return err
		}
		h.logf("          %s has %d steps: %s", scenario.ID, len(h.steps), scenario.Sentence)
		testCases = append(testCases, o.choose(scenario, h.steps)...)
	}
	testCases = deal(o.shard, testCases, 2) // both sides of a step to one part
	random := rand.New(rand.NewPCG(o.seed, 0))
	if o.budget > 0 {
		random.Shuffle(len(testCases), func(i, j int) { testCases[i], testCases[j] = testCases[j], testCases[i] })
	}
	var next atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	for range max(o.worlds, 1) - 1 {
		another := &harness{tally: h.tally, topology: h.topology}
		group.Go(func() error {
			if err := another.start(groupCtx, nil); err != nil {
				return errors.Join(err, another.stop())
			}
			return errors.Join(another.work(groupCtx, testCases, &next, deadline), another.stop())
		})
	}
	group.Go(func() error { return h.work(groupCtx, testCases, &next, deadline) })
	if err := group.Wait(); err != nil {
		return err
	}
	if done := min(int(next.Load()), len(testCases)); done < len(testCases) {
		h.logf("the time is over: %d of %d cases were run", done, len(testCases))
	}
	return h.stop()
}

// choose returns the cases of a scenario that the options select.
func (o options) choose(scenario scenarios.Scenario, steps []record.Step) (out []testCase) {
	if o.actor != "" {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return s.Actor != o.actor })
	}
	out = sweeps(scenario, steps, o.sweep)
	if o.single {
		out = append(out, points(scenario, steps)...)
	}
	if o.single && o.actor == "" {
		out = append(out, failures(scenario, steps)...)
	}
	return out
}

// work runs cases until none is left, or the time is over.
func (h *harness) work(ctx context.Context, testCases []testCase, next *atomic.Int64, deadline time.Time) error {
	for deadline.IsZero() || time.Now().Before(deadline) {
		i := int(next.Add(1)) - 1
		if i >= len(testCases) {
			return nil
		}
		if err := h.try(ctx, i+1, len(testCases), testCases[i]); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the topology's scenarios, or the selected one, if it is among them.
func chosen(id string, topology scenarios.Topology) []scenarios.Scenario {
	return slices.DeleteFunc(catalog.Of(topology), func(s scenarios.Scenario) bool { return id != "" && !strings.EqualFold(id, s.ID) })
}

// failures are the cases of a scenario beside its crash points.
func failures(scenario scenarios.Scenario, steps []record.Step) []testCase {
	out := []testCase{
		staleReads(scenario, world.IMMonitor, "engines", "replicas"),
		staleReads(scenario, world.IMMonitor, "orphans"),
		staleReads(scenario, world.OrphanController, "engines", "replicas"),
		staleReads(scenario, world.OrphanController, "orphans"),
		staleReads(scenario, world.OrphanController, "settings", "nodes"),
	}
	if scenario.Topology >= scenarios.Attached {
		out = append(out, staleReads(scenario, world.AttachController, "volumes", "volumeattachments"),
			staleReads(scenario, world.AttachController, "engines", "enginefrontends", "replicas"),
			staleReads(scenario, world.AttachController, "nodes"))
	}
	if scenario.Topology == scenarios.Attached {
		out = append(out, etcdRestored(scenario))
	}
	if scenario.Topology >= scenarios.Snapshots {
		out = append(out, staleReads(scenario, world.IMMonitor, "snapshots"), staleReads(scenario, world.SnapshotController, "snapshots"),
			staleReads(scenario, world.SnapshotController, "engines"),
			staleReads(scenario, world.SnapshotController, "volumes", "volumeattachments"))
	}
	if scenario.Topology >= scenarios.Upgrades {
		out = append(out, staleReads(scenario, world.UpgradeController, "volumes", "engines", "replicas"),
			staleReads(scenario, world.UpgradeController, "instancemanagers", "nodes"),
			staleReads(scenario, world.UpgradeController, "nodedataengineupgrades", "dataengineupgrademanagers"))
	}
	for _, step := range steps {
		// Only a pause at a decision or an effect matters: calls to the data plane, and writes that approve, delete or end.
		if destructive(step) {
			out = append(out, leaderPaused(scenario, step, record.Before), leaderPaused(scenario, step, record.After))
		}
	}
	for _, m := range misbehaviours() {
		out = append(out, simulated(scenario, m.name, m.inject))
	}
	return out
}

func destructive(step record.Step) bool {
	for _, begins := range []string{"InstanceDelete", "delete orphans", "VolumeSnapshot", "SnapshotRemove"} {
		if strings.HasPrefix(step.What, begins) {
			return true
		}
	}
	return false
}
