package backupcontroller

import (
	"context"
	"time"

	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/events"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
)

// reconciler decides on one backup and does the verdict's one write.
type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	stalls   stalls
	stores   *backupstores.Stores
	removals *backupstores.Removals
	observe  bool
}

// begin has the data of a Backup removed. The end of that brings the next verdict.
func (r *reconciler) begin(ctx context.Context, w *backup.World) {
	if r.observe {
		return
	}
	work := remover{observer: r.observer, stores: r.stores, evaluated: w}
	if r.removals.Begin(w.Backup.UID, w.Backup.Name, work.run) {
		log.FromContext(ctx).Info("the data of a Backup is to be removed", "name", w.Backup.Name, "target", w.TargetName)
		r.removals.Notify(w.Backup.Name) // its condition is to show that it is under way
	}
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, err := r.observer.observe(ctx, request.Name)
	if world == nil || err != nil {
		if err == nil {
			r.stalls.note(request.Name, false)
		}
		return ctrl.Result{}, err
	}
	verdict := backup.Decide(*world)
	r.stalls.note(request.Name, verdict.Stall != nil)
	if verdict.Step == backup.StepRemove {
		r.begin(ctx, world)
		return ctrl.Result{}, nil
	}
	if verdict.Step != backup.StepNone {
		if err := apply(ctx, r.client, world, verdict); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err) // gone: it was done before, or the event of what is gone brings the rest
		}
		if verdict.Step == backup.StepDropFinalizer {
			r.removals.Forget(world.Backup.UID)
			if world.Removal.Gone {
				removed.Inc()
			}
		}
		events.Emit(r.recorder, world.Backup, eventsOf(world, verdict)...)
		verdicts.WithLabelValues(string(verdict.Step), verdict.Reason).Inc()
		log.FromContext(ctx).Info("verdict applied", "name", request.Name, "snapshot", world.Backup.Spec.SnapshotName,
			"step", verdict.Step, "reason", verdict.Reason, "message", verdict.Message)
	}
	if verdict.Enqueue.IsZero() {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: max(verdict.Enqueue.Sub(r.observer.clock.Now()), time.Nanosecond)}, nil
}
