package instancecontroller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// executor is the reconciler that calls.
type executor struct{ *base }

// Reconcile makes the call that is due for an object, if it still is.
func (r *executor) Reconcile(ctx context.Context, key Key) (reconcile.Result, error) {
	defer func() { r.next(r.semaphore.Decline(key)) }()
	o, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, key.Name, empty(key.Kind))
	if err != nil || o == nil {
		return reconcile.Result{}, err
	}
	w, err := r.observe(ctx, key, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	first := instance.Decide(w).Call
	if first.Op == instance.OpNone {
		return reconcile.Result{}, nil
	}
	if !r.semaphore.Take(first.InstanceManager, key, callsPerManager) {
		return reconcile.Result{}, nil // enqueued when a slot is free
	}
	defer func() { r.next(r.semaphore.Release(first.InstanceManager)) }()
	unlock, ok := r.options.Locks.TryLock(execute.Key{InstanceManager: first.InstanceManager, Name: key.Name})
	if !ok {
		return reconcile.Result{RequeueAfter: busyDelay}, nil
	}
	defer unlock()
	if free, ok := r.alone(key, w.Object.Volume, first); ok {
		defer free()
	} else {
		return reconcile.Result{RequeueAfter: busyDelay}, nil
	}
	wait, err := r.serve(ctx, key, first)
	if status.IsConflict(err) {
		wait, err = conflictPause, nil
	}
	return reconcile.Result{RequeueAfter: wait}, client.IgnoreNotFound(err)
}

// next enqueues the key that waits for a slot.
func (r *executor) next(key Key, waits bool) {
	if waits {
		r.executorQueue.Add(key)
	}
}

// alone lets the engines of one volume be created one after the other, and its frontends: each reads what the one before it wrote.
func (r *executor) alone(key Key, volume string, call instance.Call) (unlock func(), ok bool) {
	if call.Op != instance.OpCreate || key.Kind == v1beta2.InstanceTypeReplica {
		return func() {}, true
	}
	return r.options.Locks.TryLock(execute.Key{Name: key.Kind + " of " + volume})
}

// triesToCall is how often the object is read again because what came before the call took longer than readToCall.
const triesToCall = 3

// serve decides again on the object uncached and, within readToCall of that, calls; then the reporter reads the result. It calls
// nothing but what it holds the lock for, and reports when to come back; zero means when something changes.
func (r *executor) serve(ctx context.Context, key Key, first instance.Call) (time.Duration, error) {
	polled := false
	for range triesToCall {
		began := r.rt.Clock.Now()
		o, v, err := r.decide(ctx, key)
		if err != nil || o == nil {
			return 0, err
		}
		call := v.Call
		switch {
		case call.Op == instance.OpNone && !v.At.IsZero(): // it is due later, which no event reports
			r.reportQueue.Add(key)
			return 0, nil
		case call.Op == instance.OpNone || call.Op != first.Op || call.InstanceManager != first.InstanceManager:
			return 0, nil // the cache is behind, or the volume's other objects hold it up: their events enqueue the reporter
		case r.rt.Observe:
			r.logFor(key).Info("would call", "op", call.Op, "instanceManager", call.InstanceManager, "uuid", call.UUID, "cleanupRequired",
				call.Cleanup)
			return 0, nil
		case call.Poll && !polled:
			r.poll(ctx, o)
			polled = true
			continue
		case call.Op == instance.OpCreate || call.Op == instance.OpSwitchOver || call.Op == instance.OpRevert:
			if written, err := r.reportLost(ctx, o, call); err != nil || written {
				return conflictPause, err // then it is read again
			}
			if err := r.writeAhead(ctx, key, o, call); err != nil {
				return 0, err
			}
		}
		if r.rt.Clock.Since(began) <= readToCall {
			r.call(ctx, key, o, call)
			r.reportQueue.Add(key)
			return 0, nil
		}
	}
	return failureDelay, nil
}

// decide reads the object, and before a creation its volume's others, uncached.
func (r *executor) decide(ctx context.Context, key Key) (client.Object, instance.Verdict, error) {
	o, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, key.Name, empty(key.Kind))
	if err != nil || o == nil {
		return nil, instance.Verdict{}, err
	}
	w, err := r.observe(ctx, key, o)
	if err != nil {
		return nil, instance.Verdict{}, err
	}
	v := instance.Decide(w)
	if v.Call.Op == instance.OpCreate {
		r.waitlist.set(w.Object.Volume, key, true) // before the read, so that no change after it is missed
		if err := r.readVolume(ctx, key, &w); err != nil {
			return nil, instance.Verdict{}, err
		}
		v = instance.Decide(w)
		r.waitlist.set(w.Object.Volume, key, waitsForVolume(v.Reason))
		r.report(key, o, v)
	}
	return o, v, nil
}

// poll requests a last poll of a running engine: the replicas' modes, which cannot be read after its end.
func (r *executor) poll(ctx context.Context, o client.Object) {
	engine, ok := o.(*v1beta2.Engine)
	if !ok || r.options.BeforeEngineStop == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if err := r.options.BeforeEngineStop(ctx, engine); err != nil {
		r.log.Info("no poll before the engine stops", "name", engine.Name, "error", err.Error())
	}
}

// writeAhead writes status.starting before the creation is sent, and the phase of a switch-over before it is asked for.
func (r *executor) writeAhead(ctx context.Context, key Key, o client.Object, call instance.Call) error {
	_, before := read(o)
	fields := changedFields(before, call.Ahead)
	forgetRun(fields, o)
	if len(fields) > 0 {
		if err := status.MergeStatus(ctx, r.rt.Client, o, fields, status.AtVersion()); err != nil {
			return err
		}
		r.wrote(key, o)
	}
	if before.NodeDown == "" {
		return nil
	}
	return r.writeCondition(ctx, o, "", "")
}

// forgetRun empties what the run before reported of an engine's replicas: it does not count for this one. All of it goes in this one
// write; enginecontroller would empty the rest in another write, and the next state would conflict with that one.
func forgetRun(fields map[string]any, o client.Object) {
	e, ok := o.(*v1beta2.Engine)
	if !ok {
		return
	}
	for name, there := range map[string]bool{
		"replicaModeMap": len(e.Status.ReplicaModeMap) > 0, "replicaTransitionTimeMap": len(e.Status.ReplicaTransitionTimeMap) > 0,
		"currentReplicaAddressMap": len(e.Status.CurrentReplicaAddressMap) > 0, "rebuildStatus": len(e.Status.RebuildStatus) > 0,
	} {
		if there {
			fields[name] = nil
		}
	}
}
