package orphancontroller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

// executor is the reconciler that deletes the instances of approved Orphans.
type executor struct{ *base }

// Reconcile tries the approved Orphan of one key. At most one can be executable: they differ by UUID.
func (r *executor) Reconcile(ctx context.Context, key orphan.Key) (reconcile.Result, error) {
	orphans, err := r.cachedOrphans(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	var result reconcile.Result
	for _, o := range orphans {
		if !orphan.Approved(r.orphanOf(o, key.InstanceManager)) {
			continue
		}
		wait, err := r.serve(ctx, key, o)
		if err != nil {
			return reconcile.Result{}, err
		}
		if wait > 0 {
			result = sooner(result, wait)
		}
	}
	return result, nil
}

// serve makes one try where one is due, and reports when to come back; zero means when something changes.
func (r *executor) serve(ctx context.Context, key orphan.Key, o *v1beta2.Orphan) (time.Duration, error) {
	now := r.clock.Now()
	if wait := r.fencingDelayEnds().Sub(now); wait > 0 {
		return wait, nil
	}
	if wait := r.attempts.of(o.UID).notBefore.Sub(now); wait > 0 {
		return wait, nil
	}
	release, ok := r.semaphore.Take(key.InstanceManager, callsPerManager)
	if !ok {
		return busyDelay, nil
	}
	defer release()
	unlock, ok := r.locks.TryLock(execute.Key(key))
	if !ok {
		return busyDelay, nil
	}
	defer r.evaluationQueue.Add(key) // it writes what the try brought, under the same lock
	defer unlock()
	return r.try(ctx, key, o)
}

// try reads everything again and sends the call if all checks still pass.
func (r *executor) try(ctx context.Context, key orphan.Key, o *v1beta2.Orphan) (time.Duration, error) {
	out, err := r.checkAndCall(ctx, key, o)
	if err != nil || ctx.Err() != nil {
		r.attempts.change(o.UID, func(t *attempt) { t.postponed(r.clock.Now()) })
		return 0, err
	}
	engine := o.Spec.DataEngine
	deletions.WithLabelValues(out.result, engine).Inc()
	r.logFor(key).WithValues("name", o.Name, "node", o.Spec.NodeID, "uuid", o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID]).
		Info("deletion tried", "result", out.result, "cleanupRequired", out.cleanup, "message", out.failure.Message)
	var known attempt
	switch {
	case out.call != nil:
		known = r.attempts.change(o.UID, func(t *attempt) { t.accepted(*out.call, out.still, r.clock.Now()) })
		r.pollAfter(ctx, key)
	case out.failure.Reason != "":
		known = r.attempts.change(o.UID, func(t *attempt) { t.failed(out.failure, r.clock.Now()) })
	default:
		// The evaluation no longer agrees, or nothing may be called: its own events bring us back, but not at once.
		r.attempts.change(o.UID, func(t *attempt) { t.postponed(r.clock.Now()) })
		return 0, nil
	}
	return known.notBefore.Sub(r.clock.Now()), nil
}

// pollAfter reads a list that may already show what happened to the instance.
func (r *executor) pollAfter(ctx context.Context, key orphan.Key) {
	listCtx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	if _, err := r.store.Fresh(listCtx, key.InstanceManager); err != nil {
		r.logFor(key).V(1).Info("no list after the deletion", "error", err.Error())
	}
}

// outcome is what one try brought.
type outcome struct {
	// result is the label of the metric.
	result string
	// failure is empty where nothing failed.
	failure orphan.Failure
	// call is set when the call was sent and the server may have executed it; still when an earlier one had no effect.
	call    *inventory.Call
	still   *orphan.Failure
	cleanup bool
}
