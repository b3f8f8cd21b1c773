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
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// watches maps the events of volumes, Snapshots and Backups to the jobs that they are about.
type watches struct {
	reader    client.Reader
	namespace string
}

// then is what follows from an event that is about a job and a volume.
type then func(ctx context.Context, q queue, job, volume string)

// lead enqueues the job.
func (w watches) lead(_ context.Context, q queue, job, _ string) { w.add(q, job) }

// leadRunning enqueues the job if a run is under way; a run that begins is an event itself.
func (w watches) leadRunning(ctx context.Context, q queue, job, _ string) {
	if j := w.job(ctx, job); j != nil && recurring.IsRunning(j) {
		w.add(q, job)
	}
}

// retain enqueues what the job created of the volume.
func (w watches) retain(_ context.Context, q queue, job, volume string) { w.add(q, keyOf(job, volume)) }

func (w watches) ofVolumes(then then) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				w.named(ctx, q, then, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			going := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if going || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
				w.named(ctx, q, then, e.ObjectOld, e.ObjectNew)
			}
		},
	}
}

// ofMade is for the Snapshots and Backups of jobs.
func (w watches) ofMade(then then) handler.Funcs {
	follow := func(ctx context.Context, q queue, obj client.Object) {
		if job, _ := madeFor(obj); job != "" {
			then(ctx, q, job, volumeOf(obj))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if !e.IsInInitialList {
				follow(ctx, q, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if factsOf(e.ObjectOld) != factsOf(e.ObjectNew) {
				follow(ctx, q, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { follow(ctx, q, e.Object) },
	}
}

// ofGoing is for Snapshots that jobs remove, whoever made them.
func (w watches) ofGoing() handler.Funcs {
	removal := func(obj client.Object) string {
		return conditions.Reason(obj.(*v1beta2.Snapshot).Status.Conditions, v1beta2.SnapshotRemovalApproved)
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			if removal(e.ObjectOld) != removal(e.ObjectNew) {
				w.removing(ctx, q, e.ObjectNew.(*v1beta2.Snapshot).Spec.Volume)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			w.removing(ctx, q, e.Object.(*v1beta2.Snapshot).Spec.Volume)
		},
	}
}

// ofJobs enqueues everything that the job created, if what it keeps may have changed: when the process first reads it,
// when its spec changes, and when a run begins or ends.
func (w watches) ofJobs() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			w.all(ctx, q, e.Object.(*v1beta2.RecurringJob))
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			was, is := e.ObjectOld.(*v1beta2.RecurringJob), e.ObjectNew.(*v1beta2.RecurringJob)
			if was.UID != is.UID || was.Generation != is.Generation || was.Status.CurrentRun != is.Status.CurrentRun {
				w.all(ctx, q, is)
			}
		},
	}
}

// facts are what the core reads of a Snapshot or a Backup.
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

// named follows the jobs that a volume names, as it was and as it is, by itself, by a group, or by its claim.
func (w watches) named(ctx context.Context, q queue, then then, volumes ...client.Object) {
	var sets []map[string]string
	for _, v := range volumes {
		sets = append(sets, v.GetLabels())
	}
	volume := volumes[0].GetName()
	sources, err := observer{reader: w.reader}.sourcesOf(ctx, volume)
	w.failed(ctx, err)
	if labels, ok := sources[volume]; ok {
		sets = append(sets, labels)
	}
	w.follow(ctx, q, then, volume, sets...)
}

// follow follows the jobs that any of these sets of labels names.
func (w watches) follow(ctx context.Context, q queue, then then, volume string, sets ...map[string]string) {
	jobs := w.jobs(ctx)
	for i := range jobs {
		if slices.ContainsFunc(sets, func(labels map[string]string) bool { return recurring.IsFor(&jobs[i], labels) }) {
			then(ctx, q, jobs[i].Name, volume)
		}
	}
}

// removing enqueues the jobs whose runs remove snapshots of the volume.
func (w watches) removing(ctx context.Context, q queue, volume string) {
	jobs := slices.DeleteFunc(w.jobs(ctx), func(j v1beta2.RecurringJob) bool { return !recurring.Removes(&j) || !recurring.IsRunning(&j) })
	if len(jobs) == 0 {
		return
	}
	v, err := lookup.Shared(ctx, w.reader, w.namespace, volume, &v1beta2.Volume{})
	w.failed(ctx, err)
	if v != nil {
		sources, err := observer{reader: w.reader}.sourcesOf(ctx, volume)
		w.failed(ctx, err)
		labels := sources.Labels(v)
		for i := range jobs {
			if recurring.IsFor(&jobs[i], labels) {
				w.add(q, jobs[i].Name)
			}
		}
	}
}

// all enqueues everything that the job created of the volumes that it is for.
func (w watches) all(ctx context.Context, q queue, job *v1beta2.RecurringJob) {
	volumes, _, err := observer{reader: w.reader, namespace: w.namespace}.volumes(ctx, job)
	w.failed(ctx, err)
	for _, v := range volumes {
		w.retain(ctx, q, job.Name, v.Name)
	}
}

func (w watches) job(ctx context.Context, name string) *v1beta2.RecurringJob {
	job, err := lookup.Shared(ctx, w.reader, w.namespace, name, &v1beta2.RecurringJob{})
	w.failed(ctx, err)
	return job
}

func (w watches) jobs(ctx context.Context) []v1beta2.RecurringJob {
	var jobs v1beta2.RecurringJobList
	w.failed(ctx, w.reader.List(ctx, &jobs, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy))
	return jobs.Items
}

// failed reports that the cache could not be read, which happens only while the process stops.
func (w watches) failed(ctx context.Context, err error) {
	if err != nil {
		log.FromContext(ctx).Error(err, "reading from the cache")
	}
}

func (w watches) add(q queue, name string) {
	if name != "" {
		q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}})
	}
}
