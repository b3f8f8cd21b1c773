package enginepoll

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// Reconcile polls one engine that runs, one of few of its instance manager at a time.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	e := &v1beta2.Engine{}
	err := c.rt.Client.Get(ctx, request.NamespacedName, e)
	if apierrors.IsNotFound(err) {
		c.forget(request.Name)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("reading engine %s: %w", request.Name, err)
	}
	if !runs(e) {
		c.forget(e.Name)
		return written(c.write(ctx, e, engine.Ended(e)))
	}
	known := c.memory.view(e, c.rt.Clock.Now())
	to, err := c.connect(ctx, e)
	if err != nil || to == nil {
		return ctrl.Result{RequeueAfter: unreachableDelay}, err
	}
	release, ok := c.semaphore.Take(to.direct.manager, perManager)
	if !ok {
		return ctrl.Result{RequeueAfter: semaphorePause}, nil
	}
	defer release()
	endedBefore := c.working.ended(e.Name)
	f, err := c.observe(ctx, e, known, *to)
	if silent := (silentError{}); errors.As(err, &silent) {
		polls.WithLabelValues("failed").Inc()
		c.pool.failed(to.direct, silent.error)
		c.rt.Log.Info("the engine could not be polled", "engine", e.Name, "error", silent.Error())
		return ctrl.Result{RequeueAfter: unreachableDelay}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	p := &poll{Controller: c, facts: f, session: *to, endedBefore: endedBefore}
	return p.apply(ctx, decide(c.options, f))
}

// poll is one poll of a running engine: what it found, and how the engine is called.
type poll struct {
	*Controller
	facts
	session
	// endedBefore are the calls that had ended when it began, and that no poll had shown.
	endedBefore int
	// snapshotsCalled reports that the poll sent a call about snapshots: what it has listed may be different by now.
	snapshotsCalled bool
	// removalRead is when the reads began that allowed a removal: its purge rests on them, too, while they are new enough for a call.
	removalRead time.Time
	// makesRoom is the snapshot limit below which a purge of this poll makes room for a replica; empty: none does.
	makesRoom string
	// called reports that the poll sent a call: the next poll shows its effect.
	called bool
	// conflict reports that a write about another object found a newer version.
	conflict bool
}

// apply makes a verdict true: the engine's status, its calls, Snapshots, Backups.
func (p *poll) apply(ctx context.Context, v verdict) (ctrl.Result, error) {
	if err := p.write(ctx, p.engine, v.engine.Status); err != nil {
		return written(err)
	}
	full := p.memory.polled(p.engine.Name, v, p.seen) // after the write: what it found is reported once, by the poll that was written
	if p.memory.unansweredChanged(p.engine.Name, p.seen.Unanswered) {
		p.rt.Log.Info("these questions are not answered, or all are again", "engine", p.engine.Name, "unanswered", p.seen.Unanswered)
	}
	if !p.seen.Unanswered.Any() {
		p.memory.wrote(p.engine.Name)
		p.working.shown(p.engine.Name, p.endedBefore)
	}
	p.report(v.engine, full)
	p.makesRoom = v.engine.MakesRoom
	p.watchRebuild(v.engine)
	defer p.working.begin(p.engine.Name)()
	if !p.rt.Observe {
		for _, call := range v.engine.Calls {
			p.call(ctx, call)
		}
	}
	next := p.spread(v.engine)
	snapshots := p.applySnapshots(ctx, v.snapshots)
	backups, err := p.applyBackups(ctx, v.backups)
	p.wrote("Backups", err)
	for _, wait := range []time.Duration{p.until(v.provenAt), snapshots, backups, p.again()} {
		next = sooner(next, wait)
	}
	if p.called {
		next = sooner(next, p.options.Busy)
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

// until is how long until a poll is due; zero is whenever.
func (c *Controller) until(at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return max(at.Sub(c.rt.Clock.Now()), soon)
}

// sooner is the lesser of two waits; zero is whenever.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// spread makes polls many quiet engines come one after the other.
func (c *Controller) spread(v engine.Verdict) time.Duration {
	if v.Going {
		return v.Next
	}
	return v.Next + time.Duration(c.random()*float64(v.Next)/5)
}

// write writes what differs from the version that was read.
func (c *Controller) write(ctx context.Context, e *v1beta2.Engine, wanted v1beta2.EngineStatus) error {
	if equality.Semantic.DeepEqual(e.Status, wanted) {
		return nil
	}
	after := e.DeepCopy()
	after.Status = wanted
	if err := c.rt.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(e, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("patching the status of engine %s: %w", e.Name, err)
	}
	return nil
}

// written is the end of a pass after its write: somebody else's write, or the engine's end, is no error.
func written(err error) (ctrl.Result, error) {
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}
