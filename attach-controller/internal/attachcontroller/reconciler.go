package attachcontroller

import (
	"context"
	"slices"

	kevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/status"
)

// reconciler decides on one volume and its VolumeAttachment; both have one name.
type reconciler struct {
	observer observer
	writer   writer
	client   client.Client
	recorder kevents.EventRecorder
	blocked  blockedTickets
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	of, err := r.observer.objects(ctx, request.Name)
	if err == nil && of.attachment == nil {
		r.blocked.note(request.Name, nil)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if done, err := r.keepAttachment(ctx, of); done || err != nil {
		return ctrl.Result{}, err
	}
	world, err := r.observer.world(ctx, of)
	if err != nil {
		return ctrl.Result{}, err
	}
	verdict := attach.Decide(world)
	done, err := r.writer.apply(ctx, of, verdict)
	r.report(ctx, of, world, verdict, done)
	if err == nil && of.attachment != nil {
		r.blocked.note(request.Name, verdict.Status.AttachmentTicketStatuses)
	}
	return ctrl.Result{}, err
}

// keepAttachment ensures that the VolumeAttachment exists and is the volume's own, and reports whether that took a write: the event of the
// write triggers the rest.
func (r *reconciler) keepAttachment(ctx context.Context, of objects) (bool, error) {
	switch {
	case of.attachment != nil && of.attachment.DeletionTimestamp != nil:
		return r.letGo(ctx, of.attachment)
	case of.volume == nil || of.volume.DeletionTimestamp != nil:
		return false, nil
	case of.attachment == nil:
		return true, r.create(ctx, of.volume)
	case foreign(of.attachment, of.volume):
		return true, status.Delete(ctx, r.client, of.attachment)
	}
	if done, err := r.mark(ctx, of); done || err != nil {
		return done, err
	}
	return r.takeOver(ctx, of)
}

// letGo releases a VolumeAttachment that is being deleted; there is nothing to clean up. The volume is evaluated after that, without
// tickets or with another VolumeAttachment.
func (r *reconciler) letGo(ctx context.Context, a *v1beta2.VolumeAttachment) (bool, error) {
	err := status.DropFinalizer(ctx, r.client, a, v1beta2.Finalizer)
	return slices.Contains(a.Finalizers, v1beta2.Finalizer), client.IgnoreNotFound(err)
}

// report emits the events, the log entry and the metrics of what was done.
func (r *reconciler) report(ctx context.Context, of objects, w attach.World, v attach.Verdict, done []attach.Step) {
	if len(done) == 0 {
		return
	}
	var turned []turn
	if w.Attachment != nil {
		turned = turns(w.Attachment.Stored.AttachmentTicketStatuses, done)
		events.Emit(r.recorder, of.attachment, blocked(turned)...)
	}
	for _, step := range done {
		if step.Kind == attach.StepSpec {
			events.Emit(r.recorder, of.volume, moved(w.Volume.Spec, v)...)
		}
	}
	count(v, done, turned)
	log.FromContext(ctx).Info("volume decided", "row", v.Row, "node", v.Spec.NodeID, "migration", v.Spec.MigrationNodeID, "writes",
		len(done))
}
