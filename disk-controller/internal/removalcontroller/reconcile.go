package removalcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/replicadata"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
)

// fieldOwner owns the condition DataRemoved of v1 Replicas.
const fieldOwner = "disk-controller"

const (
	// freshFor is how old the objects may be that a removal was decided on when it begins.
	freshFor = 5 * time.Second
	// goesOnAfter is when a removal that takes longer than the timeout is looked at again.
	goesOnAfter = 2 * time.Second
)

type reconciler struct {
	Options
	rt      *runkit.Runtime
	mapper  kube.Mapper
	remover *remover
	metrics *metrics
	random  func() float64
}

// Reconcile decides about one Replica on what the API server has of it, and removes its directory if that is due.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	cached, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, request.Name, &v1beta2.Replica{})
	if err != nil || cached == nil || cached.Spec.NodeID != r.Node || !replicadata.AwaitsRemoval(cached) {
		return ctrl.Result{}, err
	}
	began := r.rt.Clock.Now()
	w, err := r.observe(ctx, cached)
	if err != nil {
		return ctrl.Result{}, err
	}
	v := removal.Decide(w)
	if v.Held != "" {
		r.rt.Log.Info("Kept the directory of a replica", "replica", request.Name, "why", v.Held)
	}
	if v.Condition != nil {
		if err := r.write(ctx, w.Replica, *v.Condition, status.AtVersion()); err != nil {
			return r.again(err)
		}
	}
	if !v.Remove || r.rt.Observe {
		return r.later(w.Replica, v), nil
	}
	return r.remove(ctx, w.Replica, began)
}

// later returns when a verdict without a removal is due again: what it waits for may be no event here.
func (r *reconciler) later(replica *v1beta2.Replica, v removal.Verdict) ctrl.Result {
	if replica == nil || v.Held == "" && (v.Condition == nil || v.Condition.Status == v1beta2.ConditionTrue) {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: retry.Jitter(r.Period, r.random)}
}

// remove removes the directory, and reports the outcome. A removal that takes long goes on meanwhile.
func (r *reconciler) remove(ctx context.Context, replica *v1beta2.Replica, began time.Time) (ctrl.Result, error) {
	there, err := r.remover.remove(replica, began.Add(freshFor))
	log := r.rt.Log.WithValues("replica", replica.Name, "path", replica.Spec.DiskPath, "directory", replica.Spec.DataDirectoryName)
	if errors.Is(err, errGoesOn) {
		log.V(1).Info("The removal of a directory goes on")
		return ctrl.Result{RequeueAfter: goesOnAfter}, nil
	}
	if errors.Is(err, errStale) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	outcome := removal.Outcome(replica, there, err)
	if err != nil {
		log.Error(err, "Removing a directory failed")
	} else {
		log.Info("Removed a directory", "reason", outcome.Reason)
	}
	r.metrics.removals.WithLabelValues(outcome.Reason).Inc()
	if err := r.write(ctx, replica, outcome); err != nil {
		return r.again(err)
	}
	return r.later(replica, removal.Verdict{Condition: &outcome}), nil
}

// write applies the condition if it reports something new, and reports by an event what ended or fails.
func (r *reconciler) write(ctx context.Context, replica *v1beta2.Replica, wanted v1beta2.Condition, options ...status.Option) error {
	current := conditions.Owned(replica.Status.Conditions, v1beta2.ReplicaDataRemoved)
	list := conditions.Set(current, wanted, r.rt.Clock.Now())
	if conditions.Equal(current, list) {
		return nil
	}
	fields := map[string]any{"conditions": status.ConditionsField(list)}
	if err := status.Apply(ctx, r.rt.Client, replica, fieldOwner, fields, options...); err != nil {
		return fmt.Errorf("writing what became of the directory of replica %s: %w", replica.Name, err)
	}
	if wanted.Reason != v1beta2.ReasonRemoving && conditions.Reason(current, v1beta2.ReplicaDataRemoved) != wanted.Reason {
		e := events.Event{Type: corev1.EventTypeNormal, Reason: wanted.Reason, Action: "RemoveReplicaData", Note: wanted.Message}
		if wanted.Status != v1beta2.ConditionTrue {
			e.Type = corev1.EventTypeWarning
		}
		events.Emit(r.rt.Recorder, replica, e)
	}
	return nil
}

// again decides again on a Replica that changed meanwhile; one that is gone needs nothing more.
func (r *reconciler) again(err error) (ctrl.Result, error) {
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}
