package recurringcontroller

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// The indexes.
const (
	// byKey finds the volumes that name a job or a group.
	byKey = "recurringcontroller.key"
	// byJob finds the Snapshots and Backups that a job made.
	byJob = "recurringcontroller.job"
)

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &v1beta2.Volume{}, byKey, func(obj client.Object) []string { return recurring.KeysOfVolume(obj.GetLabels()) })
	if err != nil {
		return fmt.Errorf("indexing volumes by job: %w", err)
	}
	for _, kind := range []client.Object{&v1beta2.Snapshot{}, &v1beta2.Backup{}} {
		err = indexer.IndexField(ctx, kind, byJob, func(obj client.Object) []string {
			if job := jobOf(obj); job != "" {
				return []string{job}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing %T by job: %w", kind, err)
		}
	}
	return nil
}

// jobOf is the job that made the Snapshot or Backup; empty: none did.
func jobOf(obj client.Object) string {
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		return made.Spec.Labels[v1beta2.LabelRecurringJob]
	case *v1beta2.Backup:
		return made.Spec.Labels[v1beta2.LabelRecurringJob]
	}
	return ""
}

// observer reads worlds. It only reads.
type observer struct {
	reader    client.Reader
	namespace string
	clock     clock.PassiveClock
}

// observe reads the world of a job; nil: it does not exist.
func (o observer) observe(ctx context.Context, name string) (*recurring.World, error) {
	w := &recurring.World{Job: &v1beta2.RecurringJob{}}
	if err := o.reader.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, w.Job); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	for _, key := range recurring.KeysOfJob(w.Job) {
		var volumes v1beta2.VolumeList
		if err := o.list(ctx, &volumes, byKey, key); err != nil {
			return nil, err
		}
		for i := range volumes.Items {
			w.Volumes = append(w.Volumes, &volumes.Items[i])
		}
	}
	var snapshots v1beta2.SnapshotList
	if err := o.list(ctx, &snapshots, byJob, name); err != nil {
		return nil, err
	}
	for i := range snapshots.Items {
		w.Snapshots = append(w.Snapshots, &snapshots.Items[i])
	}
	var backups v1beta2.BackupList
	if err := o.list(ctx, &backups, byJob, name); err != nil {
		return nil, err
	}
	for i := range backups.Items {
		w.Backups = append(w.Backups, &backups.Items[i])
	}
	w.Now = o.clock.Now()
	return w, nil
}

// list hands out what the cache holds: the core changes nothing of it.
func (o observer) list(ctx context.Context, list client.ObjectList, index, key string) error {
	err := o.reader.List(ctx, list, client.InNamespace(o.namespace), client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("listing by %s: %w", index, err)
	}
	return nil
}
