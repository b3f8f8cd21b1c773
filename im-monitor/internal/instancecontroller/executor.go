package instancecontroller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// executor is the reconciler that calls.
type executor struct{ *base }

// Reconcile makes the call that is due for an object, if it still is.
func (r *executor) Reconcile(ctx context.Context, key Key) (reconcile.Result, error) {
	defer func() {
		for _, next := range r.semaphore.Decline(key) {
			r.executorQueue.Add(next)
		}
	}()
	o, w, v, err := r.evaluate(ctx, r.rt.Client, key)
	if err != nil || o == nil {
		return reconcile.Result{}, err
	}
	first := v.Call
	if first.Op == instance.OpNone {
		return reconcile.Result{RequeueAfter: r.heldUp(key, o, v)}, nil
	}
	if !r.semaphore.Take(first.InstanceManager, key, callsPerManager) {
		return reconcile.Result{}, nil // enqueued when a slot is free
	}
	defer func() {
		if next, waits := r.semaphore.Release(first.InstanceManager); waits {
			r.executorQueue.Add(next)
		}
	}()
	wait, err := r.serve(ctx, key, w.Object.Volume, first)
	if status.IsConflict(err) {
		wait, err = kube.ConflictPause, nil
	}
	return reconcile.Result{RequeueAfter: wait}, client.IgnoreNotFound(err)
}

// locks are what is locked during a call: the instance, and for a creation of an engine or a frontend the others of its volume, each of
// which reads what the one before it wrote.
func locks(key Key, volume string, call instance.Call) []execute.Key {
	out := []execute.Key{{InstanceManager: call.InstanceManager, Name: key.Name}}
	if call.Op == instance.OpCreate && key.Kind != v1beta2.InstanceTypeReplica {
		out = append(out, execute.Key{Name: key.Kind + " of " + volume})
	}
	return out
}

// try is one try to make the call that is due for an object.
type try struct {
	*executor
	key Key
	// first is the call that the cache asks for; the locks are for its instance manager.
	first instance.Call
	// object and call are what the check read and allows.
	object client.Object
	call   instance.Call
	polled bool
	// wait is when to come back; zero means when something changes.
	wait time.Duration
}

// serve decides again and calls; then the reporter reads the result. It reports when to come back.
func (r *executor) serve(ctx context.Context, key Key, volume string, first instance.Call) (time.Duration, error) {
	t := &try{executor: r, key: key, first: first}
	out, err := r.guard.Do(ctx, execute.Call{
		InstanceManager: first.InstanceManager, Locks: locks(key, volume, first), Noun: "instance",
		Check: t.check, Ahead: t.ahead, Send: t.send, Record: t.record,
	})
	return max(t.wait, out.Wait), err
}

// check decides again, under the locks. It allows nothing but what they are for.
func (t *try) check(ctx context.Context, _ execute.Reading) (execute.Checked, error) {
	_, epoch, _ := t.store.Client(t.first.InstanceManager) // before the lists that the decision reads
	disagreed := execute.Checked{Stop: execute.Stop{Result: execute.Disagreed}}
	o, v, err := t.decide(ctx, t.key, t.first.Op)
	if err != nil || o == nil {
		return disagreed, err
	}
	call := v.Call
	switch {
	case call.Op == instance.OpNone:
		t.wait = t.heldUp(t.key, o, v)
		return disagreed, t.writeMissingVolume(ctx, o, v)
	case call.Op != t.first.Op || call.InstanceManager != t.first.InstanceManager: // the cache is behind, or another server's list changed
		t.wait = kube.ConflictPause
		return disagreed, nil
	case call.Poll && !t.polled && !t.rt.Observe:
		t.poll(ctx, o)
		t.polled = true
		return execute.Checked{Again: true}, nil
	}
	t.object, t.call = o, call
	return execute.Checked{Allowed: true, Epoch: epoch, Timeout: timeoutOf(call)}, nil
}

// heldUp is about a key whose call is not due any more since the reporter decided: it is decided on again when its time comes, or when
// another object of its volume changes that holds it up. It returns when to come back where nothing reports that: Volumes are not watched.
func (r *executor) heldUp(key Key, o client.Object, v instance.Verdict) time.Duration {
	switch {
	case v.Reason == instance.ReasonVolumeMissing:
		return volumePause
	case waitsForVolume(v.Reason):
		r.await(v1beta2.VolumeNameOf(o), key, true)
	case !v.At.IsZero():
		r.reportQueue.Add(key)
	}
	return 0
}

// writeMissingVolume writes that the Volume is missing into the status, which the reporter keeps: it does not read the Volume.
func (r *executor) writeMissingVolume(ctx context.Context, o client.Object, v instance.Verdict) error {
	if v.Reason != instance.ReasonVolumeMissing {
		return nil
	}
	if _, before := read(o); before.Creation == v.Status.Creation {
		return nil
	}
	if err := r.writeProblems(ctx, o, v.Status, status.AtVersion()); err != nil {
		return err
	}
	r.written.Record(o)
	return nil
}

// timeoutOf bounds a deletion. A creation, or a call that moves a frontend, is bounded by the connection alone.
func timeoutOf(call instance.Call) time.Duration {
	switch {
	case call.Op != instance.OpDelete:
		return 0
	case call.Out:
		return outTimeout
	}
	return stopTimeout
}

// ahead records what is about to be asked for.
func (t *try) ahead(ctx context.Context) (execute.Stop, error) {
	if !t.call.Op.WritesAhead() {
		return execute.Stop{}, nil
	}
	if written, err := t.reportLost(ctx, t.object, t.call); err != nil || written {
		t.wait = kube.ConflictPause // then it is read again
		return execute.Stop{Result: execute.Disagreed}, err
	}
	object, err := t.writeAhead(ctx, t.object, t.call)
	t.attempts.Change(t.key, func(a *attempt) { a.conflicted = status.IsConflict(err) })
	if err == nil {
		t.object = object
	}
	return execute.Stop{}, err
}

// decide reads the object, before a creation its volume's others, and before a switch-over begins or closes the old target its engines,
// uncached. The object is read from the cache if a write ahead of the call is bound to the version that was read: that write fails where
// the cache is behind, and the next try reads the object uncached.
func (r *executor) decide(ctx context.Context, key Key, first instance.Op) (client.Object, instance.Verdict, error) {
	if first.WritesAhead() && !r.attempts.Of(key).conflicted {
		o, w, v, err := r.evaluate(ctx, r.rt.Client, key)
		if err != nil || o == nil {
			return nil, instance.Verdict{}, err
		}
		if bound(o, w.Status, v.Call) {
			if v, err = r.confirm(ctx, key, o, w, v); err != nil || bound(o, w.Status, v.Call) {
				return o, v, err
			}
		}
	}
	o, w, v, err := r.evaluate(ctx, r.rt.Uncached, key)
	if err != nil || o == nil {
		return nil, instance.Verdict{}, err
	}
	v, err = r.confirm(ctx, key, o, w, v)
	return o, v, err
}

// bound reports whether nothing is called before a write to the version that was read.
func bound(o client.Object, before instance.Status, call instance.Call) bool {
	return call.Op == instance.OpNone || writesAhead(o, before, call)
}

// confirm reads the other objects that may speak against the call, uncached, and decides again.
func (r *executor) confirm(ctx context.Context, key Key, o client.Object, w instance.World, v instance.Verdict) (instance.Verdict, error) {
	switch {
	case v.Call.Op == instance.OpCreate:
		r.waitlist.set(w.Object.Volume, key, true) // before the read, so that no change after it is missed
		if err := r.readVolume(ctx, key, &w); err != nil {
			return instance.Verdict{}, err
		}
		v = instance.Decide(w)
		r.waitlist.set(w.Object.Volume, key, waitsForVolume(v.Reason))
		r.report(key, o, v)
	case v.Call.BeginsSwitchOver(), v.Call.ClosesOldTarget():
		// The cache may lag behind: the engine that is left may have begun to copy to a replica, and once this is on record nothing begins.
		if err := r.targets(ctx, r.rt.Uncached, &w); err != nil {
			return instance.Verdict{}, err
		}
		v = instance.Decide(w)
	}
	return v, nil
}

// evaluate decides on the object as it is read from there, and on what the cache has beside it; nil: there is no such object.
func (r *executor) evaluate(ctx context.Context, from client.Reader, key Key) (client.Object, instance.World, instance.Verdict, error) {
	o, err := lookup.Shared(ctx, from, r.rt.Namespace, key.Name, empty(key.Kind))
	if err != nil || o == nil {
		return nil, instance.World{}, instance.Verdict{}, err
	}
	w, err := r.observe(ctx, key, o)
	if err != nil {
		return nil, instance.World{}, instance.Verdict{}, err
	}
	return o, w, instance.Decide(w), nil
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

// writeAhead writes status.starting before the creation is sent, and the phase of a switch-over before it is asked for. It returns the
// object with that.
func (r *executor) writeAhead(ctx context.Context, o client.Object, call instance.Call) (client.Object, error) {
	_, before := read(o)
	written := o
	if fields := fieldsAhead(o, before, call); len(fields) > 0 {
		if err := status.MergeStatus(ctx, r.rt.Client, o, fields, status.AtVersion(), status.Written(&written)); err != nil {
			return nil, err
		}
		r.written.Record(o)
	}
	if before.NodeDown == "" {
		return written, nil
	}
	return written, r.writeCondition(ctx, o, "", "")
}

// writesAhead reports whether something is written, bound to the version that was read, before this call is sent.
func writesAhead(o client.Object, before instance.Status, call instance.Call) bool {
	return call.Op.WritesAhead() && len(fieldsAhead(o, before, call)) > 0
}

func fieldsAhead(o client.Object, before instance.Status, call instance.Call) map[string]any {
	fields := changedFields(before, call.Ahead)
	withOwner(fields, o, before, call.Ahead, false) // nothing is called on a node that is down
	forgetRun(fields, o)
	return fields
}

// forgetRun empties what the run before reported of an engine's replicas: it does not count for this one. All of it goes in this one
// write; enginepoll would empty the rest in another write, and the next state would conflict with that one.
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
