package csisnapshotcontroller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

// reconciler decides on one content and does the verdict's one write; the event of that write brings the next.
type reconciler struct {
	rt       *runkit.Runtime
	observer observer
	election *election.Election
	metrics  *metrics
	written  kube.Written
}

// Reconcile implements reconcile.Reconciler. Without a term the request is dropped: each begins with all.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ctx, done, leads := r.election.Enter(ctx)
	if !leads {
		return ctrl.Result{RequeueAfter: r.election.Resumes()}, nil
	}
	defer done()
	s, verdict, err := r.decide(ctx, request.Name)
	if s == nil || err != nil {
		return ctrl.Result{}, err
	}
	result := ctrl.Result{}
	if !verdict.RequeueAt.IsZero() {
		result.RequeueAfter = kube.Until(verdict.RequeueAt, s.world.Now)
	}
	if verdict.Step == csisnapshot.StepNone {
		return result, nil
	}
	evaluated := s.evaluated(verdict.Step)
	if r.written.Stale(evaluated) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	if err := r.apply(ctx, s, verdict); err != nil {
		if status.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err) // what is gone brings an event
	}
	r.written.Record(evaluated)
	if s.world.Volume != nil {
		events.Emit(r.rt.Recorder, s.world.Volume, eventsOf(s.world, verdict)...)
	}
	r.metrics.record(verdict)
	log.FromContext(ctx).Info("verdict applied", "name", s.content.Name, "step", verdict.Step, "reason", verdict.Outcome, "error",
		verdict.Status.Error)
	return result, nil
}

func (r *reconciler) decide(ctx context.Context, name string) (*seen, csisnapshot.Verdict, error) {
	s, err := r.observer.observe(ctx, name, false)
	if s == nil || err != nil {
		return nil, csisnapshot.Verdict{}, err
	}
	verdict := csisnapshot.Decide(s.world)
	if !verdict.Confirm {
		return s, verdict, nil
	}
	if s, err = r.observer.observe(ctx, name, true); s == nil || err != nil {
		return nil, csisnapshot.Verdict{}, err
	}
	return s, csisnapshot.Decide(s.world), nil
}
