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

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/stories"
	"drover.dev/drover/e2e/world"
)

// allPoints runs the Stories of one cast after the other: each has Worlds of its own.
func (h *harness) allPoints(ctx context.Context, o options) error {
	var casts [][]scenarios.Story
	for _, cast := range scenarios.Casts {
		if told := chosen(o.story, cast); len(told) > 0 {
			casts = append(casts, told)
		}
	}
	for n, stories := range casts {
		h.cast = stories[0].Cast
		deadline := time.Time{}
		if o.budget > 0 {
			// Six tenths of the time in equal parts, the rest for the planted mistakes.
			deadline = h.began.Add(o.budget * 6 / 10 * time.Duration(n+1) / time.Duration(len(casts)))
		}
		if err := h.tellAll(ctx, o, stories, deadline); err != nil {
			return err
		}
	}
	h.cast = scenarios.Orphans
	return nil
}

// tellAll tells every Story once to learn its steps, then tries all trials, or a sample of them, in several Worlds side
// by side.
func (h *harness) tellAll(ctx context.Context, o options, stories []scenarios.Story, deadline time.Time) error {
	if err := h.start(ctx, nil); err != nil {
		return err
	}
	var trials []trial
	for _, story := range stories {
		if err := h.try(ctx, 0, 0, trial{story: story, name: "undisturbed"}); err != nil {
			return err
		}
		h.say("          %s has %d steps: %s", story.ID, len(h.steps), story.Sentence)
		trials = append(trials, o.choose(story, h.steps)...)
	}
	trials = deal(o.shard, trials, 2) // both sides of a step to one part
	random := rand.New(rand.NewPCG(o.seed, 0))
	if o.budget > 0 {
		random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	}
	var next atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	for range max(o.worlds, 1) - 1 {
		another := &harness{tally: h.tally, cast: h.cast}
		group.Go(func() error {
			if err := another.start(groupCtx, nil); err != nil {
				return errors.Join(err, another.stop())
			}
			return errors.Join(another.work(groupCtx, trials, &next, deadline), another.stop())
		})
	}
	group.Go(func() error { return h.work(groupCtx, trials, &next, deadline) })
	if err := group.Wait(); err != nil {
		return err
	}
	if done := min(int(next.Load()), len(trials)); done < len(trials) {
		h.say("the time is spent: %d of %d trials were run", done, len(trials))
	}
	return h.stop()
}

// choose are the trials of a Story that were asked for.
func (o options) choose(story scenarios.Story, steps []record.Step) (out []trial) {
	if o.actor != "" {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s record.Step) bool { return s.Actor != o.actor })
	}
	out = combs(story, steps, o.comb)
	if o.single {
		out = append(out, points(story, steps)...)
	}
	if o.single && o.actor == "" {
		out = append(out, troubles(story, steps)...)
	}
	return out
}

// work takes trials until none is left, or the time is over.
func (h *harness) work(ctx context.Context, trials []trial, next *atomic.Int64, deadline time.Time) error {
	for deadline.IsZero() || time.Now().Before(deadline) {
		i := int(next.Add(1)) - 1
		if i >= len(trials) {
			return nil
		}
		if err := h.try(ctx, i+1, len(trials), trials[i]); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the cast's Stories, or the one that was asked for, if it is among them.
func chosen(id string, cast scenarios.Cast) []scenarios.Story {
	return slices.DeleteFunc(stories.Of(cast), func(s scenarios.Story) bool { return id != "" && !strings.EqualFold(id, s.ID) })
}

// troubles are the trials of a Story beside its crash points.
func troubles(story scenarios.Story, steps []record.Step) []trial {
	out := []trial{
		staleReads(story, world.IMMonitor, "engines", "replicas"),
		staleReads(story, world.IMMonitor, "orphans"),
		staleReads(story, world.OrphanController, "engines", "replicas"),
		staleReads(story, world.OrphanController, "orphans"),
		staleReads(story, world.OrphanController, "settings", "nodes"),
	}
	if story.Cast >= scenarios.Attached {
		out = append(out, staleReads(story, world.AttachController, "volumes", "volumeattachments"),
			staleReads(story, world.AttachController, "engines", "enginefrontends", "replicas"),
			staleReads(story, world.AttachController, "nodes"))
	}
	if story.Cast == scenarios.Attached {
		out = append(out, etcdRestored(story))
	}
	if story.Cast >= scenarios.Snapshots {
		out = append(out, staleReads(story, world.IMMonitor, "snapshots"), staleReads(story, world.SnapshotController, "snapshots"),
			staleReads(story, world.SnapshotController, "engines"), staleReads(story, world.SnapshotController, "volumes", "volumeattachments"))
	}
	if story.Cast >= scenarios.Upgrades {
		out = append(out, staleReads(story, world.UpgradeController, "volumes", "engines", "replicas"),
			staleReads(story, world.UpgradeController, "instancemanagers", "nodes"),
			staleReads(story, world.UpgradeController, "nodedataengineupgrades", "dataengineupgrademanagers"))
	}
	for _, step := range steps {
		// A pause matters where something is decided or done: the data plane's calls, and what approves, deletes or ends.
		if destructive(step) {
			out = append(out, leaderPaused(story, step, record.Before), leaderPaused(story, step, record.After))
		}
	}
	for _, m := range misbehaviours() {
		out = append(out, simulated(story, m.name, m.inject))
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
