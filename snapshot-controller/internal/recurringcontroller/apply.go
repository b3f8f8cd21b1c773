package recurringcontroller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// owner is the field manager of what this binary writes.
const owner = "snapshot-controller"

// apply makes a verdict true: the status, at the version that was evaluated; then what is to be made; then what is to go.
func (r *reconciler) apply(ctx context.Context, job *v1beta2.RecurringJob, v recurring.Verdict) error {
	if v.Write {
		err := status.Apply(ctx, r.client, job, owner, statusFields(v.Status), status.AtVersion())
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		r.written.Record(job)
		events.Emit(r.recorder, job, eventsOf(job, v)...)
		if v.Status.ExecutionCount != job.Status.ExecutionCount {
			done.WithLabelValues(doneRun).Inc()
		}
	}
	created := r.createAll(ctx, job, v)
	gone, err := removeAll(ctx, r.client, v.Delete)
	if gone > 0 {
		events.Emit(r.recorder, job, removed(gone))
	}
	return errors.Join(created, err)
}

// createAll creates what it can; one that is refused does not keep the others.
func (r *reconciler) createAll(ctx context.Context, job *v1beta2.RecurringJob, v recurring.Verdict) (err error) {
	for _, s := range v.Create {
		if problem := r.create(ctx, s); problem != nil {
			err = errors.Join(err, fmt.Errorf("creating %s: %w", called(s), problem))
			continue
		}
		r.finished.of(job).created[s.Name] = r.observer.clock.Now()
	}
	for _, b := range v.BackUp {
		if problem := r.create(ctx, b); problem != nil {
			err = errors.Join(err, fmt.Errorf("creating %s: %w", called(b), problem))
		}
	}
	return err
}

// create makes what is not there. One that is was made by this very verdict: before a crash, or before the cache had it.
func (r *reconciler) create(ctx context.Context, obj client.Object) error {
	if err := r.client.Create(ctx, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	done.WithLabelValues(doneCreate).Inc()
	return nil
}

// removeAll deletes what it can, and returns how many that were; one that is refused does not keep the others.
func removeAll[T client.Object](ctx context.Context, c client.Client, list []T) (gone int, err error) {
	for _, obj := range list {
		if problem := remove(ctx, c, obj); problem != nil {
			err = errors.Join(err, fmt.Errorf("deleting %s: %w", called(obj), problem))
			continue
		}
		gone++
	}
	return gone, err
}

// called is what errors call a Snapshot or Backup.
func called(obj client.Object) string {
	if s, ok := obj.(*v1beta2.Snapshot); ok {
		return fmt.Sprintf("snapshot %s of volume %s", s.Name, s.Spec.Volume)
	}
	return "backup " + obj.GetName()
}

// remove deletes the very object that was evaluated.
func remove(ctx context.Context, c client.Client, obj client.Object) error {
	if err := status.Delete(ctx, c, obj); err != nil {
		return err
	}
	done.WithLabelValues(doneDelete).Inc()
	return nil
}

// statusFields are all fields of the status that are this controller's; what is left out is empty.
func statusFields(s v1beta2.RecurringJobStatus) map[string]any {
	fields := map[string]any{"conditions": status.ConditionsField(s.Conditions), "observedGeneration": s.ObservedGeneration}
	if s.ExecutionCount != 0 {
		fields["executionCount"] = int64(s.ExecutionCount)
	}
	for name, text := range map[string]string{"currentRun": s.CurrentRun, "lastRun": s.LastRun, "scheduledSince": s.ScheduledSince} {
		if text != "" {
			fields[name] = text
		}
	}
	return fields
}
