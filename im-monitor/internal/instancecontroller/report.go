package instancecontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// reporter is the reconciler that keeps the status true and enqueues the executors.
type reporter struct{ *base }

// Reconcile reconciles the status of one object.
func (r *reporter) Reconcile(ctx context.Context, key Key) (reconcile.Result, error) {
	o, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, key.Name, empty(key.Kind))
	if err != nil {
		return reconcile.Result{}, err
	}
	if o == nil {
		r.forget(key)
		return reconcile.Result{}, nil
	}
	if r.written.Stale(o) {
		return reconcile.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	w, err := r.observe(ctx, key, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	if w.AwaitsCutOff() {
		r.waitlist.set(w.Object.Volume, key, true) // before the read, so that no change after it is missed
		if err := r.readReplicas(ctx, &w); err != nil {
			return reconcile.Result{}, err
		}
	}
	v := instance.Decide(w)
	if v.WantsCopy && !r.rt.Observe {
		if err := r.wantCopy(ctx, w); err != nil {
			return reconcile.Result{}, err
		}
	}
	if err := r.apply(ctx, key, o, w, v); err != nil {
		if status.IsConflict(err) {
			return reconcile.Result{RequeueAfter: kube.ConflictPause}, nil
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return r.requeue(key, w, v), nil
}

// requeue asks for what is waited for.
func (r *reporter) requeue(key Key, w instance.World, v instance.Verdict) reconcile.Result {
	if v.Call.Op != instance.OpNone {
		r.executorQueue.Add(key)
	}
	if v.ExpectAbsence {
		r.store.ExpectAbsence(r.subject(key, w.Here.InstanceManager, &w))
	}
	if v.Reason == instance.ReasonDone && !w.Unsettled {
		r.attempts.ForgetIf(key, func(t attempt) bool { return !t.underWay() })
	}
	if v.Reason != instance.ReasonCalling { // the executor reads the volume, and reports what it waits for
		r.await(w.Object.Volume, key, waitsForVolume(v.Reason) || w.AwaitsCutOff() || w.Here != nil && w.Here.PodOnly)
	}
	if v.At.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: kube.Until(v.At, r.rt.Clock.Now())}
}

func waitsForVolume(reason string) bool {
	switch reason {
	case instance.ReasonOtherLive, instance.ReasonUnclaimedLive, instance.ReasonReplicaNotReady, instance.ReasonNotCutOff, instance.ReasonLed,
		instance.ReasonLeftover, instance.ReasonNodeBusy, instance.ReasonEngineRebuilding, instance.ReasonTargetUnknown:
		return true
	}
	return waitsForImages(reason)
}

// waitsForImages reports that an EngineImage, a BackingImage or a Volume may end the wait.
func waitsForImages(reason string) bool {
	switch reason {
	case instance.ReasonImageUnknown, instance.ReasonImageNotDeployed, instance.ReasonWaitsForBackingImage, instance.ReasonNoBackingImage,
		instance.ReasonVolumeMissing:
		return true
	}
	return false
}

// apply writes what changed, and emits it.
func (r *reporter) apply(ctx context.Context, key Key, o client.Object, w instance.World, v instance.Verdict) error {
	if err := r.forgetLost(ctx, o, v); err != nil {
		return err
	}
	before, after := w.Status, v.Status
	if before.Equal(after) {
		r.report(key, o, v)
		return nil
	}
	if err := r.write(ctx, o, before, after, w.Node.Out(), v.Message); err != nil {
		return err
	}
	r.written.Record(o)
	events.Emit(r.rt.Recorder, o, v.Events...)
	r.report(key, o, v)
	if before.State != after.State {
		transitionsTotal.WithLabelValues(key.Kind, stateLabel(after.State)).Inc()
		r.logFor(key).Info("state written", "state", after.State, "before", before.State, "node", w.Object.NodeID, "instanceManager",
			after.InstanceManager,
			"uuid", after.UUID, "reason", v.Reason, "message", v.Message)
	}
	return nil
}

// write writes a conclusion's condition before its state, so that it is never taken for a listed state, and removes it after a state was
// listed. The first of the writes is bound to the version that was evaluated.
func (r *reporter) write(ctx context.Context, o client.Object, before, after instance.Status, down bool, message string) error {
	at := []status.Option{status.AtVersion()}
	if after.NodeDown != "" && after.NodeDown != before.NodeDown {
		if err := r.writeCondition(ctx, o, after.NodeDown, message, at...); err != nil {
			return err
		}
		at = nil
	}
	fields := changedFields(before, after)
	withOwner(fields, o, before, after, down)
	if len(fields) > 0 {
		if err := status.MergeStatus(ctx, r.rt.Client, o, fields, at...); err != nil {
			return err
		}
		at = nil
	}
	if before.NodeDown != "" && after.NodeDown == "" {
		if err := r.writeCondition(ctx, o, "", "", at...); err != nil {
			return err
		}
		at = nil
	}
	if before.Creation != after.Creation || before.BackingImage != after.BackingImage || before.Switching != after.Switching {
		return r.writeProblems(ctx, o, after, at...)
	}
	return nil
}

func (s *base) forget(key Key) {
	s.attempts.ForgetIf(key, func(t attempt) bool { return !t.underWay() })
	s.reported.forget(key)
	s.waitlist.drop(key)
}
