package recurringcontroller

import (
	"context"
	"errors"
	"strings"

	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// retention deletes what a job made of one volume and keeps no longer. A request is named job/volume, so that what happens to
// one volume costs the same, however many the job is for.
type retention struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
}

// Reconcile implements reconcile.Reconciler.
func (r *retention) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	name, volume, _ := strings.Cut(request.Name, "/")
	o := r.observer
	job, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.RecurringJob{})
	if job == nil || err != nil {
		return ctrl.Result{}, err
	}
	v, err := lookup.Get(ctx, o.reader, o.namespace, volume, &v1beta2.Volume{})
	if v == nil || err != nil {
		return ctrl.Result{}, err
	}
	sources, err := o.sourcesOf(ctx, volume)
	if err != nil {
		return ctrl.Result{}, err
	}
	world, err := o.ofVolume(ctx, job, v, sources)
	if err != nil {
		return ctrl.Result{}, err
	}
	snapshots, backups := recurring.Surplus(*world)
	if len(snapshots) > 0 {
		if err := o.readShared(ctx, world, v, snapshots); err != nil {
			return ctrl.Result{}, err
		}
		snapshots, backups = recurring.Surplus(*world) // less what linked clones share
	}
	if len(snapshots)+len(backups) == 0 {
		return ctrl.Result{}, nil
	}
	if err := r.remove(ctx, job, snapshots, backups); err != nil {
		return ctrl.Result{}, err
	}
	log.FromContext(ctx).Info("surplus deleted", "name", name, "volume", volume, "snapshots", len(snapshots), "backups", len(backups))
	return ctrl.Result{}, nil
}

// remove deletes what it can.
func (r *retention) remove(ctx context.Context, job *v1beta2.RecurringJob, snapshots []*v1beta2.Snapshot, backups []*v1beta2.Backup) error {
	gone, ofSnapshots := removeAll(ctx, r.client, snapshots)
	if gone > 0 {
		events.Emit(r.recorder, job, retained(gone))
	}
	gone, ofBackups := removeAll(ctx, r.client, backups)
	if gone > 0 {
		events.Emit(r.recorder, job, retainedBackups(gone))
	}
	return errors.Join(ofSnapshots, ofBackups)
}
