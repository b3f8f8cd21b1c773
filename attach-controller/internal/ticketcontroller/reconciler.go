package ticketcontroller

import (
	"context"

	kevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
)

// reconciler decides on the tickets of one volume.
type reconciler struct {
	observer observer
	client   client.Client
	recorder kevents.EventRecorder
	clock    clock.PassiveClock
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	world, verdict, err := r.decide(ctx, request.Name)
	if world == nil || err != nil {
		return ctrl.Result{}, err
	}
	if len(verdict.Changes) == 0 {
		return r.requeue(verdict), nil
	}
	if err := apply(ctx, r.client, world.Attachment, verdict.Changes); err != nil {
		return ctrl.Result{}, err
	}
	for _, change := range verdict.Changes {
		events.Emit(r.recorder, world.Attachment, eventsOf(change, verdict)...)
		count(change)
		log.FromContext(ctx).Info("ticket changed", "name", change.ID, "reason", change.Why, "node", nodeOf(change))
	}
	return r.requeue(verdict), nil
}

// decide returns a nil world if there is nothing to decide about. A verdict with changes comes from a second, uncached read: generations
// then count up from what is stored, and an owner is gone for certain.
func (r *reconciler) decide(ctx context.Context, name string) (*ticket.World, ticket.Verdict, error) {
	world, err := r.observer.observe(ctx, name, false)
	if world == nil || err != nil {
		return nil, ticket.Verdict{}, err
	}
	verdict := ticket.Decide(*world)
	if len(verdict.Changes) == 0 {
		return world, verdict, nil
	}
	if world, err = r.observer.observe(ctx, name, true); world == nil || err != nil {
		return nil, ticket.Verdict{}, err
	}
	return world, ticket.Decide(*world), nil
}

// requeue requeues exactly at the verdict's time.
func (r *reconciler) requeue(v ticket.Verdict) ctrl.Result {
	if v.RequeueAt.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: kube.Until(v.RequeueAt, r.clock.Now())}
}

func nodeOf(c ticket.Change) string {
	if c.Ticket != nil {
		return c.Ticket.NodeID
	}
	return c.Before.NodeID
}
