package upgradecontroller

import (
	"context"

	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/status"
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
	refused  refusals
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
	if wrote || err == nil {
		r.report(ctx, world.Manager, verdict, wrote)
	}
	if status.IsConflict(err) { // as when a binary has just answered what it tried
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return requeue(r.clock, verdict.RequeueAt), nil
}

// report publishes the status that is stored now, also where a later step failed.
func (r *planReconciler) report(ctx context.Context, m *v1beta2.DataEngineUpgradeManager, v plan.Verdict, wrote bool) {
	r.metrics.plan(m, v.Status)
	if !wrote {
		return
	}
	events.Emit(r.recorder, m, planEvents(m.Status, v.Status)...)
	log.FromContext(ctx).Info("verdict applied", "name", m.Name, "state", v.Status.State, "node", v.Status.UpgradingNode,
		"create", v.CreateName, "delete", len(v.Delete), "error", v.Status.ErrorMessage)
}

// decide returns a nil world where the upgrade is gone.
func (r *planReconciler) decide(ctx context.Context, name string) (*plan.World, plan.Verdict, error) {
	world, err := r.observe(ctx, name, false)
	if world == nil || err != nil {
		return nil, plan.Verdict{}, err
	}
	verdict := plan.Decide(*world)
	if !verdict.Confirm {
		return world, verdict, nil
	}
	if world, err = r.observe(ctx, name, true); world == nil || err != nil {
		return nil, plan.Verdict{}, err
	}
	return world, plan.Decide(*world), nil
}

// observe reads the world of an upgrade, nil where it is gone, with what this process remembers of its pods.
func (r *planReconciler) observe(ctx context.Context, name string, fresh bool) (*plan.World, error) {
	world, err := r.observer.plan(ctx, name, fresh)
	if world == nil || err != nil {
		return nil, err
	}
	r.refused.add(world)
	return world, nil
}
