package upgradecontroller

import (
	"context"

	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/events"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

// planReconciler decides on one whole upgrade and does what the verdict contains. The watch events of its writes enqueue the upgrade again.
type planReconciler struct {
	options  Options
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	metrics  *metrics
	clock    clock.PassiveClock
}

// Reconcile implements reconcile.Reconciler.
func (r *planReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, verdict, err := r.decide(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if world == nil {
		r.metrics.planGone(request.Name)
		return ctrl.Result{}, nil
	}
	wrote, err := r.applyPlan(ctx, world, verdict)
	if err != nil {
		return ctrl.Result{}, err
	}
	m := world.Manager
	r.metrics.plan(m, verdict.Status)
	if wrote {
		events.Emit(r.recorder, m, planEvents(m.Status, verdict.Status)...)
		log.FromContext(ctx).Info("verdict applied", "name", m.Name, "state", verdict.Status.State, "node", verdict.Status.UpgradingNode,
			"create", verdict.CreateName, "delete", len(verdict.Delete), "error", verdict.Status.ErrorMessage)
	}
	return requeue(r.clock, verdict.RequeueAt), nil
}

// decide returns a nil world where the upgrade is gone.
func (r *planReconciler) decide(ctx context.Context, name string) (*plan.World, plan.Verdict, error) {
	world, err := r.observer.plan(ctx, name, false)
	if world == nil || err != nil {
		return nil, plan.Verdict{}, err
	}
	verdict := plan.Decide(*world)
	if !verdict.Confirm {
		return world, verdict, nil
	}
	if world, err = r.observer.plan(ctx, name, true); world == nil || err != nil {
		return nil, plan.Verdict{}, err
	}
	return world, plan.Decide(*world), nil
}
