package enginepoll

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// silentError is the error of an engine that did not answer a question of a poll.
type silentError struct{ error }

// observe reads everything that the decisions depend on. Backups come first, so that what the engine reports of itself is new when its
// status is written and its calls are sent. Lists of the engine come before the Snapshots: what an object says is then at least as new as
// what was listed.
func (c *Controller) observe(ctx context.Context, e *v1beta2.Engine, known view, to session) (facts, error) {
	f := facts{engine: e, run: runOf(e), known: known, reachable: to.through != nil}
	if c.rt.ElectedAt != nil {
		f.electedAt = c.rt.ElectedAt()
		f.fencingDelayEnds = f.electedAt.Add(c.options.PostElectionDelay)
	}
	pending, err := c.pending(ctx, e)
	if err != nil {
		return f, err
	}
	if err := c.observeBackups(ctx, &f, to); err != nil {
		return f, err
	}
	if f.seen, err = c.ask(ctx, to.direct, engine.Ask(e, known.first, known.adding != "", pending || known.purging)); err != nil {
		return f, silentError{err}
	}
	f.seen.Purges = engine.KnownPurges(e, f.seen.Purges)
	polls.WithLabelValues(resultOf(f.seen)).Inc()
	if f.room, err = c.readRoom(ctx, e, f.seen); err != nil {
		return f, err
	}
	if err := c.observeSnapshots(ctx, &f); err != nil {
		return f, err
	}
	if f.alone, err = c.isAlone(ctx, e); err != nil {
		return f, err
	}
	f.cleansUp, f.now = c.cleansUp(ctx), c.rt.Clock.Now()
	return f, nil
}

// resultOf returns the result of a poll in the metric of polls.
func resultOf(seen engine.Seen) string {
	if seen.Unanswered.Any() {
		return "incomplete"
	}
	return "seen"
}

// question is one question of a poll. unanswered is set if the engine does not answer it.
type question struct {
	ask        func() error
	unanswered *bool
}

// ask asks the engine all questions of a poll. A question that the engine does not answer loses its own answer alone, so that a replica
// that hangs hides no modes. Every decision rests on the list of replicas: without it there is no poll. The two questions that every poll
// has are sent at once: they share packets. The other questions follow at once, so that replicas that hang delay a poll by two deadlines
// at most.
func (c *Controller) ask(ctx context.Context, to way, q engine.Questions) (engine.Seen, error) {
	seen := engine.Seen{Began: c.rt.Clock.Now()}
	lost := &seen.Unanswered
	var replicas errgroup.Group
	replicas.Go(func() (err error) {
		seen.Replicas, err = to.replicas(ctx)
		return err
	})
	c.askAll(to, question{fill(ctx, to, true, to.proxy.Snapshots, &seen.Snapshots), &lost.Snapshots})
	if err := replicas.Wait(); err != nil {
		return seen, err
	}
	c.askAll(to,
		question{func() error { return to.volume(ctx, q, &seen) }, &lost.Volume},
		question{fill(ctx, to, q.Rebuilds, to.proxy.Rebuilds, &seen.Rebuilds), &lost.Rebuilds},
		question{fill(ctx, to, q.Clones, to.proxy.Clones, &seen.Clones), &lost.Clones},
		question{fill(ctx, to, q.Restores, to.proxy.Restores, &seen.Restores), &lost.Restores},
		question{fill(ctx, to, q.Purges, to.proxy.Purges, &seen.Purges), &lost.Purges},
	)
	return seen, nil
}

// askAll asks questions at once, and notes which of them were not answered.
func (c *Controller) askAll(to way, questions ...question) {
	failed := make([]error, len(questions))
	var all sync.WaitGroup
	for i, one := range questions {
		all.Go(func() { failed[i] = one.ask() })
	}
	all.Wait()
	for i, err := range failed {
		if err == nil {
			continue
		}
		*questions[i].unanswered = true
		c.pool.failed(to, err)
		c.rt.Log.V(1).Info("the engine did not answer a question", "engine", to.Engine, "error", err.Error())
	}
}

// fill is a question whose answer goes into a field, where it is asked.
func fill[T any](ctx context.Context, to way, asked bool, question func(context.Context, imclient.Target) (T, error),
	into *T) func() error {
	return func() (err error) {
		if asked {
			*into, err = question(ctx, to.Target)
		}
		return err
	}
}

// replicas are the replicas as the engine lists them.
func (w way) replicas(ctx context.Context) ([]engine.Replica, error) {
	replicas, err := w.proxy.Replicas(ctx, w.Target)
	out := make([]engine.Replica, 0, len(replicas))
	for _, r := range replicas {
		out = append(out, engine.Replica(r))
	}
	return out, err
}

// volume asks for the engine's size and limits, if that is asked. An engine that is too old does not know the limit of rebuilds.
func (w way) volume(ctx context.Context, q engine.Questions, seen *engine.Seen) error {
	if !q.Volume {
		return nil
	}
	v, err := w.proxy.Volume(ctx, w.Target)
	if err != nil {
		return err
	}
	seen.Volume = &engine.Volume{Size: v.Size, Expanding: v.Expanding, ExpansionError: v.ExpansionError, ExpansionAt: v.ExpansionEnd,
		SnapshotMaxCount: v.SnapshotMaxCount, SnapshotMaxSize: v.SnapshotMaxSize, UnmapMark: v.UnmapMarkSnapChainRemoved}
	if q.RebuildLimit {
		if limit, err := w.proxy.RebuildLimit(ctx, w.Target); err == nil {
			seen.Volume.RebuildLimit = limit
		}
	}
	return nil
}
