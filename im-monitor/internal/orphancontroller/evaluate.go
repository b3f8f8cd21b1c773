package orphancontroller

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
)

// evaluator is the reconciler that keeps the Orphans of one key true.
type evaluator struct{ *base }

// Reconcile observes, evaluates, takes the re-verification where an Orphan is missing, and applies.
func (r *evaluator) Reconcile(ctx context.Context, key orphan.Key) (reconcile.Result, error) {
	orphans, err := r.cachedOrphans(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	snapshot, _ := r.store.Latest(key.InstanceManager)
	seen, err := r.observe(ctx, readers{r.client, r.client}, key, snapshot, orphans)
	if err != nil {
		return reconcile.Result{}, err
	}
	verdict := orphan.Evaluate(seen.world)
	r.note(seen, verdict)
	var pollAgain time.Duration
	if len(verdict.Creations()) > 0 {
		if pollAgain, err = r.create(ctx, seen, verdict); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := r.writeStatuses(ctx, seen, verdict); err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.requeueAt(ctx, seen, verdict)
	if err == nil && pollAgain > 0 {
		result = sooner(result, pollAgain)
	}
	return result, err
}

// reverify reads a fresh list and the claim uncached, both begun now, and evaluates again. Its inventory is nil
// where no list came in time.
func (r *evaluator) reverify(ctx context.Context, first scene) (scene, orphan.Verdict, error) {
	var snapshot *inventory.Snapshot
	var again scene
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		fresh, err := r.guard.Fresh(groupCtx, first.world.Key.InstanceManager)
		if ctx.Err() == nil && err != nil {
			// Without a list nothing is confirmed.
			fresh, err = nil, nil
		}
		snapshot = fresh
		return err
	})
	group.Go(func() (err error) {
		again, err = r.observe(groupCtx, readers{r.uncached, r.client}, first.world.Key, nil, first.orphans)
		return err
	})
	if err := group.Wait(); err != nil {
		return scene{}, orphan.Verdict{}, err
	}
	r.see(&again.world, snapshot)
	return again, orphan.Evaluate(again.world), nil
}

// note counts a non-decision when it begins, and reports the one that people must act on. A name of which nothing is
// known, neither a list nor an Orphan, is none.
func (r *evaluator) note(seen scene, v orphan.Verdict) {
	reason := ""
	if v.Evaluation.Decision == orphan.Undecided && (seen.world.Inventory != nil || len(seen.orphans) > 0) {
		reason = v.Evaluation.Reason
	}
	if !r.undecided.set(seen.world.Key, reason) || reason == "" {
		return
	}
	r.logFor(seen.world.Key).V(1).Info("no decision", "reason", reason, "message", v.Evaluation.Message)
	if reason == v1beta2.ReasonNoUUID {
		events.Emit(r.recorder, seen.manager, noUUIDEvent(v.Evaluation))
	}
}

// requeueAt asks for what is waited for: the list that proves an absence, or the one that shows a stopped replica.
func (r *evaluator) requeueAt(ctx context.Context, seen scene, v orphan.Verdict) (reconcile.Result, error) {
	key := seen.world.Key
	if executable(v) {
		r.executorQueue.Add(key)
	}
	if v.ExpectAbsence {
		for _, o := range seen.world.Orphans {
			r.store.ExpectAbsence(subject(o))
		}
	}
	result := reconcile.Result{RequeueAfter: r.fencingDelayLeft(seen)}
	if v.PollAt.IsZero() {
		return result, nil
	}
	if wait := v.PollAt.Sub(r.clock.Now()); wait > 0 {
		return sooner(result, wait), nil
	}
	if _, err := r.guard.Fresh(ctx, key.InstanceManager); err != nil {
		if errors.Is(err, context.Canceled) {
			return reconcile.Result{}, err
		}
		return sooner(result, execute.AfterFailure.First), nil
	}
	return reconcile.Result{RequeueAfter: time.Millisecond}, nil
}

// fencingDelayLeft is how long an Orphan of this key stays untouched; zero when none is.
func (r *evaluator) fencingDelayLeft(seen scene) time.Duration {
	for _, o := range seen.world.Orphans {
		if o.FencingDelayed {
			return kube.Until(r.fencingDelayEnds(), r.clock.Now())
		}
	}
	return 0
}

func sooner(r reconcile.Result, wait time.Duration) reconcile.Result {
	if r.RequeueAfter == 0 || wait < r.RequeueAfter {
		r.RequeueAfter = wait
	}
	return r
}

func executable(v orphan.Verdict) bool {
	for _, o := range v.Orphans {
		if o.Execute {
			return true
		}
	}
	return false
}
