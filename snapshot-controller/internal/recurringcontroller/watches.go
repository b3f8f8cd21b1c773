package recurringcontroller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// watches maps the events of volumes, Snapshots and Backups to the jobs that they are about.
type watches struct {
	reader    client.Reader
	namespace string
}

func (w watches) ofVolumes() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				w.named(ctx, q, e.Object.GetLabels())
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, after := e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()
			going := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if going || !maps.Equal(before, after) {
				w.named(ctx, q, before, after)
			}
		},
	}
}

// ofMade is for the Snapshots and Backups of jobs.
func (w watches) ofMade() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				w.job(q, jobOf(e.Object))
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if factsOf(e.ObjectOld) != factsOf(e.ObjectNew) {
				w.job(q, jobOf(e.ObjectNew))
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { w.job(q, jobOf(e.Object)) },
	}
}

// facts are what the core looks at of a Snapshot or a Backup.
type facts struct {
	reason, taken string
	going         bool
}

func factsOf(obj client.Object) facts {
	out := facts{going: obj.GetDeletionTimestamp() != nil}
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		out.reason, out.taken = conditions.Reason(made.Status.Conditions, v1beta2.SnapshotReady), made.Status.CreationTime
	case *v1beta2.Backup:
		out.reason, out.taken = conditions.Reason(made.Status.Conditions, v1beta2.BackupApproved), made.Status.State
	}
	return out
}

// named enqueues the jobs that volumes with one of these labels name, by themselves or by a group.
func (w watches) named(ctx context.Context, q queue, labels ...map[string]string) {
	var jobs v1beta2.RecurringJobList
	if err := w.reader.List(ctx, &jobs, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
	for i := range jobs.Items {
		if slices.ContainsFunc(labels, func(l map[string]string) bool { return recurring.IsFor(&jobs.Items[i], l) }) {
			w.job(q, jobs.Items[i].Name)
		}
	}
}

func (w watches) job(q queue, name string) {
	if name != "" {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}})
	}
}
