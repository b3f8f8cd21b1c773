package instancecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/instancelock"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// hands is the reconciler that calls.
type hands struct{ *shell }

// Reconcile makes the call that is due for an object, if it still is.
func (r *hands) Reconcile(ctx context.Context, key Key) (reconcile.Result, error) {
	o, err := get(ctx, r.rt.Client, r.rt.Namespace, key.Name, empty(key.Kind))
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
	release, ok := r.slots.take(first.InstanceManager, key, callsPerManager)
	if !ok {
		return reconcile.Result{}, nil // woken when one is free
	}
	defer func() {
		if next, waits := release(); waits {
			r.handsQueue.add(next)
		}
	}()
	unlock, ok := r.options.Locks.TryLock(instancelock.Key{InstanceManager: first.InstanceManager, Name: key.Name})
	if !ok {
		return reconcile.Result{RequeueAfter: busyDelay}, nil
	}
	defer r.reportQueue.add(key)
	defer unlock()
	if free, ok := r.alone(key, w.Object.Volume, first); ok {
		defer free()
	} else {
		return reconcile.Result{RequeueAfter: busyDelay}, nil
	}
	if err := r.serve(ctx, key, first); err != nil {
		if status.IsConflict(err) {
			return reconcile.Result{RequeueAfter: conflictPause}, nil
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{}, nil
}

// alone lets the engines of one volume be created one after the other, and its frontends: each reads what the one before it wrote.
func (r *hands) alone(key Key, volume string, call instance.Call) (unlock func(), ok bool) {
	if call.Op != instance.OpCreate || key.Kind == v1beta2.InstanceTypeReplica {
		return func() {}, true
	}
	return r.options.Locks.TryLock(instancelock.Key{Name: key.Kind + " of " + volume})
}

// triesToCall is how often the object is read again because what came before the call took longer than readToCall.
const triesToCall = 3

// serve decides again on the object past the cache and, within readToCall of that, calls. It calls nothing but what it holds the lock for.
func (r *hands) serve(ctx context.Context, key Key, first instance.Call) error {
	looked := false
	for range triesToCall {
		began := r.rt.Clock.Now()
		o, v, err := r.decide(ctx, key)
		if err != nil || o == nil {
			return err
		}
		call := v.Call
		switch {
		case call.Op == instance.OpNone || call.Op != first.Op || call.InstanceManager != first.InstanceManager:
			return nil // the reporter sees the same and says so
		case r.rt.Observe:
			r.logFor(key).Info("would call", "op", call.Op, "instanceManager", call.InstanceManager, "uuid", call.UUID, "cleanupRequired", call.Cleanup)
			return nil
		case call.Look && !looked:
			r.look(ctx, o)
			looked = true
			continue
		case call.Op == instance.OpCreate:
			if ok, err := r.announce(ctx, key, o, call); err != nil || !ok {
				return err
			}
		}
		if r.rt.Clock.Since(began) <= readToCall {
			r.call(ctx, key, o, call)
			return nil
		}
	}
	return nil
}

// decide reads the object, and before a creation its volume's others, past the cache.
func (r *hands) decide(ctx context.Context, key Key) (client.Object, instance.Verdict, error) {
	o, err := get(ctx, r.rt.Uncached, r.rt.Namespace, key.Name, empty(key.Kind))
	if err != nil || o == nil {
		return nil, instance.Verdict{}, err
	}
	w, err := r.observe(ctx, key, o)
	if err != nil {
		return nil, instance.Verdict{}, err
	}
	v := instance.Decide(w)
	if v.Call.Op == instance.OpCreate && key.Kind != v1beta2.InstanceTypeReplica {
		r.waiters.set(w.Object.Volume, key, true) // before the read, so that no change after it is missed
		if err := r.readEngines(ctx, key, &w); err != nil {
			return nil, instance.Verdict{}, err
		}
		v = instance.Decide(w)
		r.waiters.set(w.Object.Volume, key, waitsForVolume(v.Reason))
		r.tell(key, o, v)
	}
	return o, v, nil
}

// look asks for a last look at a running engine: the replicas' modes, which nobody can read after its end.
func (r *hands) look(ctx context.Context, o client.Object) {
	engine, ok := o.(*v1beta2.Engine)
	if !ok || r.options.BeforeEngineStop == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := r.options.BeforeEngineStop(ctx, engine); err != nil {
		r.log.Info("no look before the engine stops", "name", engine.Name, "error", err.Error())
	}
}

// announce writes status.starting before the creation is sent.
func (r *hands) announce(ctx context.Context, key Key, o client.Object, call instance.Call) (bool, error) {
	_, before := read(o)
	fields := changedFields(before, call.Ahead)
	if len(fields) > 0 {
		if err := status.MergeStatus(ctx, r.rt.Client, o, fields, status.AtVersion()); err != nil {
			return false, err
		}
		r.wrote(key, o)
	}
	if before.NodeDown != "" {
		if err := r.writeCondition(ctx, o, "", ""); err != nil {
			return false, err
		}
	}
	return true, nil
}
