package recurringcontroller

import (
	"context"
	"time"

	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// reconciler decides on one job and makes the verdict true; the events of its writes bring the next.
type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	finished *finished
	written  kube.Written
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, err := r.observer.observe(ctx, request.Name, r.finished)
	if world == nil || err != nil {
		if err == nil {
			paused.DeleteLabelValues(request.Name)
		}
		return ctrl.Result{}, err
	}
	if r.written.Stale(world.Job) {
		return ctrl.Result{RequeueAfter: kube.CachePause}, nil // it may show a run that has ended
	}
	verdict := recurring.Decide(*world)
	passesOver := 0.0
	if conditions.IsFalse(verdict.Status.Conditions, v1beta2.RecurringJobRetained) {
		passesOver = 1
	}
	paused.WithLabelValues(request.Name).Set(passesOver) // once: a scrape between two values would end an alert
	if err := r.apply(ctx, world.Job, verdict); err != nil {
		return ctrl.Result{}, err
	}
	if made, gone := len(verdict.Create)+len(verdict.BackUp), len(verdict.Delete); verdict.Write || made+gone > 0 {
		log.FromContext(ctx).Info("verdict applied", "name", request.Name, "reason", verdict.Reason, "message", verdict.Message,
			"created", made, "deleted", gone)
	}
	if verdict.Enqueue.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(verdict.Enqueue.Sub(r.observer.clock.Now()), time.Nanosecond)}, nil
}
