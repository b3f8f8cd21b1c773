package orphancontroller

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/execute"
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
		if keys := r.executionKeys(ctx, o); !slices.Contains(keys, key) {
			r.executorQueue.Add(keys...)
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
	t := &try{executor: r, key: key, orphan: o}
	call := execute.Call{
		InstanceManager: key.InstanceManager, Locks: []execute.Key{execute.Key(key)}, Noun: "instance",
		NotBefore: r.attempts.Of(o.UID).NotBefore, List: true, Gather: t.gather, Check: t.check, Send: t.send, Record: t.record,
	}
	if ends := r.fencingDelayEnds(); ends.After(call.NotBefore) {
		call.NotBefore = ends
	}
	if isBlockData(o) {
		call.Noun, call.Send = "data", t.sendData
	}
	out, err := r.guard.Do(ctx, call)
	if out.Wait > 0 {
		return out.Wait, nil
	}
	r.evaluationQueue.Add(key) // it writes what the try brought, under the same lock
	if err != nil || out.Interrupted && !out.Sent() {
		r.attempts.Change(o.UID, func(a *attempt) { a.Fail(r.clock.Now()) })
		return 0, err
	}
	if !out.Sent() && !out.Stop.Failure {
		return 0, nil // the events of what changed come back here
	}
	return r.attempts.Of(o.UID).NotBefore.Sub(r.clock.Now()), nil
}

// pollAfter reads a list that may already show what happened to the instance.
func (r *executor) pollAfter(ctx context.Context, key orphan.Key) {
	if _, err := r.guard.Fresh(ctx, key.InstanceManager); err != nil {
		r.logFor(key).V(1).Info("no list after the deletion", "error", err.Error())
	}
}
