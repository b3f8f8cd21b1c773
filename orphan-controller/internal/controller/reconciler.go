package controller

import (
	"context"

	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
)

// reconciler decides on one orphan and does the verdict's one write. The watch event of that write enqueues the orphan again.
type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	metrics  *metrics
	clock    clock.PassiveClock
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, verdict, err := r.decide(ctx, request.Name)
	if world == nil || err != nil {
		return ctrl.Result{}, err
	}
	if verdict.Step == orphan.StepNone {
		return r.requeue(verdict), nil
	}
	o := world.Orphan
	forget := r.remember(o, verdict)
	if err := apply(ctx, r.client, o, verdict); err != nil {
		forget()
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	events.Emit(r.recorder, o, eventsOf(o, verdict)...)
	r.metrics.record(o, verdict)
	log.FromContext(ctx).Info("verdict applied", "name", o.Name, "step", verdict.Step, "reason", verdict.Outcome,
		"node", o.Spec.NodeID, "instance", orphan.NameOf(o),
		"uuid", o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID], "message", verdict.Message)
	return r.requeue(verdict), nil
}

// decide returns a nil world if the orphan does not exist.
func (r *reconciler) decide(ctx context.Context, name string) (*orphan.World, orphan.Verdict, error) {
	world, err := r.observer.observe(ctx, name, false)
	if world == nil || err != nil {
		return nil, orphan.Verdict{}, err
	}
	verdict := orphan.Decide(*world)
	if !verdict.Confirm {
		return world, verdict, nil
	}
	if world, err = r.observer.observe(ctx, name, true); world == nil || err != nil {
		return nil, orphan.Verdict{}, err
	}
	return world, orphan.Decide(*world), nil
}

// remember counts an approval by policy as under way before the cache shows it. The returned function undoes that.
func (r *reconciler) remember(o *v1beta2.Orphan, v orphan.Verdict) func() {
	if v.Step != orphan.StepConditions || conditions.Get(v.Conditions, v1beta2.OrphanDeletionReason) == nil ||
		!conditions.IsTrue(v.Conditions, v1beta2.OrphanCleanupApproved) {
		return func() {}
	}
	r.observer.approvals.add(o.Spec.NodeID, o.UID)
	return func() { r.observer.approvals.remove(o.Spec.NodeID, o.UID) }
}

// requeue schedules the next reconcile exactly at the verdict's RequeueAt.
func (r *reconciler) requeue(v orphan.Verdict) ctrl.Result {
	if v.RequeueAt.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: kube.Until(v.RequeueAt, r.clock.Now())}
}
