package removalcontroller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/status"
)

// Reconcile observes, decides, tries the removal where it is due, and writes what is known afterwards.
func (r *reconciler) Reconcile(ctx context.Context, name string) (reconcile.Result, error) {
	replica, err := lookup.Shared(ctx, r.rt.Client, r.rt.Namespace, name, &v1beta2.Replica{})
	if err != nil {
		return reconcile.Result{}, err
	}
	if replica == nil || !removal.Wanted(replicaOf(replica)) {
		r.memory.Forget(name)
		return reconcile.Result{}, nil
	}
	if r.written.Stale(replica) {
		return reconcile.Result{RequeueAfter: kube.ConflictPause}, nil
	}
	known := r.memory.begin(name, replica.UID, replicaOf(replica).Approval, r.rt.Clock.Now())
	w, err := r.observe(ctx, r.rt.Client, replica, known)
	if err != nil {
		return reconcile.Result{}, err
	}
	verdict := removal.Evaluate(w)
	var wait time.Duration
	if verdict.Step == removal.Remove {
		if wait, err = r.serve(ctx, replica, verdict.InstanceManager); err != nil {
			return reconcile.Result{}, err
		}
		if w, err = r.observe(ctx, r.rt.Client, replica, r.memory.Of(name)); err != nil {
			return reconcile.Result{}, err
		}
		verdict = removal.Evaluate(w)
	}
	return r.apply(ctx, replica, w, verdict, wait)
}

// apply asks for the proofs that a verdict waits for, writes its condition and reports when to come back.
func (r *reconciler) apply(ctx context.Context, replica *v1beta2.Replica, w removal.World, verdict removal.Verdict,
	wait time.Duration) (reconcile.Result, error) {
	if verdict.Step == removal.Prove {
		for _, p := range w.Places {
			r.store.ExpectAbsence(subject(p.InstanceManager, replica, r.memory.Of(replica.Name)))
		}
	}
	if verdict.Condition != nil {
		if err := r.write(ctx, replica, *verdict.Condition); err != nil {
			return reconcile.Result{}, err
		}
	}
	if !verdict.RequeueAt.IsZero() {
		wait = kube.Until(verdict.RequeueAt, r.rt.Clock.Now())
	}
	if verdict.Condition != nil && verdict.Condition.Status == v1beta2.ConditionTrue {
		wait = 0
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// write applies the condition where it reports something new. It is bound to the version that was evaluated.
func (r *reconciler) write(ctx context.Context, replica *v1beta2.Replica, wanted v1beta2.Condition) error {
	current := conditions.Owned(replica.Status.Conditions, wanted.Type)
	list := conditions.Set(current, wanted, r.rt.Clock.Now())
	if conditions.Equal(current, list) {
		return nil
	}
	err := status.Apply(ctx, r.rt.Client, replica, fieldOwner, map[string]any{"conditions": status.ConditionsField(list)},
		status.AtVersion())
	if status.IsConflict(err) || apierrors.IsNotFound(err) {
		// The Replica changed meanwhile, or is gone; its event brings us back.
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing what replica %s says: %w", replica.Name, err)
	}
	r.written.Record(replica)
	r.emit(replica, conditions.Get(current, wanted.Type), wanted)
	return nil
}

// emit logs, counts and reports what a condition that was just written means. A message that changes is no news.
func (r *reconciler) emit(replica *v1beta2.Replica, before *v1beta2.Condition, wanted v1beta2.Condition) {
	if before != nil && before.Status == wanted.Status && before.Reason == wanted.Reason {
		return
	}
	r.logFor(replica).Info("removal of a replica's data", "condition", wanted.Type,
		"status", wanted.Status, "reason", wanted.Reason, "message", wanted.Message)
	if wanted.Status != v1beta2.ConditionTrue {
		events.Emit(r.rt.Recorder, replica, heldUpEvent(wanted))
		return
	}
	if wanted.Type != v1beta2.ReplicaDataRemoved {
		return // disk-controller removes the data and reports that
	}
	ended.WithLabelValues(wanted.Reason).Inc()
	events.Emit(r.rt.Recorder, replica, removedEvent(wanted))
}

func (r *reconciler) logFor(replica *v1beta2.Replica) logr.Logger {
	return r.log.WithValues("replica", replica.Name, "volume", replica.Spec.VolumeName, "node", replica.Spec.NodeID)
}
