package upgradecontroller

import (
	"context"
	"time"

	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/pace"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

const (
	// restFactor is how many times as long as a decision took no other one is made about the same upgrade, within the two limits. A decision
	// costs as much as the volumes of the node, and each of them has dozens of events. None is lost, because a decision reads everything.
	restFactor          = 4
	leastRest, mostRest = 20 * time.Millisecond, 500 * time.Millisecond
)

// nodeReconciler decides on one node's upgrade and does what the verdict contains. The watch events of its writes enqueue the upgrade
// again.
type nodeReconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	metrics  *metrics
	clock    clock.PassiveClock
	pace     pace.Pace
}

// Reconcile implements reconcile.Reconciler.
func (r *nodeReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	began := r.clock.Now()
	if left := r.pace.Left(request.Name, began); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	world, verdict, err := r.decide(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if world == nil {
		r.pace.Forget(request.Name)
		r.metrics.nodeGone(request.Name)
		return ctrl.Result{}, nil
	}
	took := r.clock.Since(began)
	wrote, err := applyNode(ctx, r.client, world, verdict)
	if wrote || err == nil {
		r.report(ctx, world.Upgrade, verdict, wrote)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	// One that failed is not recorded: it is repeated with growing pauses.
	r.pace.Done(request.Name, took, r.clock.Now())
	return requeue(r.clock, verdict.RequeueAt), nil
}

// report publishes the status that is stored now, also where an effect failed.
func (r *nodeReconciler) report(ctx context.Context, u *v1beta2.NodeDataEngineUpgrade, v nodeupgrade.Verdict, wrote bool) {
	r.metrics.node(u, v.Status)
	if !wrote {
		return
	}
	events.Emit(r.recorder, u, nodeEvents(u.Status, v)...)
	if progressing := conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing); progressing != nil {
		log.FromContext(ctx).Info("verdict applied", "name", u.Name, "node", u.Spec.NodeID, "state", v.Status.State,
			"reason", progressing.Reason, "message", progressing.Message, "effects", len(v.Effects))
	}
}

// decide returns a nil world where the upgrade is gone.
func (r *nodeReconciler) decide(ctx context.Context, name string) (*nodeupgrade.World, nodeupgrade.Verdict, error) {
	world, err := r.observer.node(ctx, name, false)
	if world == nil || err != nil {
		return nil, nodeupgrade.Verdict{}, err
	}
	verdict := nodeupgrade.Decide(*world)
	if len(verdict.ConfirmVolumes) > 0 {
		if err := r.observer.confirm(ctx, world, verdict.ConfirmVolumes); err != nil {
			return nil, nodeupgrade.Verdict{}, err
		}
		verdict = nodeupgrade.Decide(*world)
	}
	if !verdict.Confirm {
		return world, verdict, nil
	}
	if world, err = r.observer.node(ctx, name, true); world == nil || err != nil {
		return nil, nodeupgrade.Verdict{}, err
	}
	return world, nodeupgrade.Decide(*world), nil
}

// requeue schedules the next reconcile exactly at the time.
func requeue(clock clock.PassiveClock, at time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: kube.Until(at, clock.Now())}
}
