package main

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// points tells every Story once to learn its steps, then tries all trials, or a sample of them.
func (h *harness) points(ctx context.Context, o options) error {
	if err := h.start(ctx, nil); err != nil {
		return err
	}
	var trials []trial
	for _, story := range chosen(o.story) {
		if err := h.try(ctx, 0, 0, trial{story: story, name: "undisturbed"}); err != nil {
			return err
		}
		h.say("          %s has %d steps: %s", story.ID, len(h.steps), story.Sentence)
		trials = append(trials, points(story, h.steps)...)
		trials = append(trials, troubles(story, h.steps)...)
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	if o.budget > 0 {
		random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	}
	for i, t := range trials {
		// A quarter of the time is left for the planted mistakes.
		if o.budget > 0 && time.Since(h.began) > o.budget*3/4 {
			h.say("the budget of %s is spent; %d of %d trials were run", o.budget, i, len(trials))
			break
		}
		if err := h.try(ctx, i+1, len(trials), t); err != nil {
			return err
		}
	}
	return h.stop()
}

func chosen(id string) []scenarios.Story {
	var out []scenarios.Story
	for _, story := range scenarios.Stories() {
		if id == "" || strings.EqualFold(id, story.ID) {
			out = append(out, story)
		}
	}
	return out
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
	for _, step := range steps {
		// A pause matters where something is decided or done: the data plane's calls, and what approves, deletes or ends.
		if destructive(step) {
			out = append(out, leaderPaused(story, step.Number, record.Before, step.What), leaderPaused(story, step.Number, record.After, step.What))
		}
	}
	for _, m := range misbehaviours() {
		out = append(out, simulated(story, m.name, m.inject))
	}
	return out
}

func destructive(step record.Step) bool {
	return strings.HasPrefix(step.What, "InstanceDelete") || strings.HasPrefix(step.What, "delete orphans")
}
