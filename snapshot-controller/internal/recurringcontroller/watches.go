package recurringcontroller

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/backup"
	"drover.dev/drover/snapshot-controller/internal/recurring"
)

// watches maps the events of volumes, Snapshots and Backups to the jobs that they are about.
type watches struct{ kube.Mapper }

// then is what follows from an event that is about a job and a volume.
type then func(ctx context.Context, q kube.Queue, job, volume string)

// lead enqueues the job.
func (w watches) lead(_ context.Context, q kube.Queue, job, _ string) { w.Enqueue(q, job) }

// leadRunning enqueues the job if a run is under way; a run that begins is an event itself.
func (w watches) leadRunning(ctx context.Context, q kube.Queue, job, _ string) {
	if j := w.job(ctx, job); j != nil && recurring.IsRunning(j) {
		w.Enqueue(q, job)
	}
}

// retain enqueues what the job created of the volume.
func (w watches) retain(_ context.Context, q kube.Queue, job, volume string) {
	w.Enqueue(q, keyOf(job, volume))
}

func (w watches) ofVolumes(then then) handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			if !e.IsInInitialList {
				w.named(ctx, q, then, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			going := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if going || !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
				w.named(ctx, q, then, e.ObjectOld, e.ObjectNew)
			}
		},
	}
}

// ofMade is for the Snapshots and Backups of jobs.
func (w watches) ofMade(then then) handler.Funcs {
	follow := func(ctx context.Context, q kube.Queue, obj client.Object) {
		if job, _ := madeFor(obj); job != "" {
			then(ctx, q, job, volumeOf(obj))
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			if !e.IsInInitialList {
				follow(ctx, q, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			if factsOf(e.ObjectOld) != factsOf(e.ObjectNew) {
				follow(ctx, q, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) { follow(ctx, q, e.Object) },
	}
}

// ofGoing is for Snapshots that jobs remove, whoever made them.
func (w watches) ofGoing() handler.Funcs {
	removal := func(obj client.Object) string {
		return conditions.Reason(obj.(*v1beta2.Snapshot).Status.Conditions, v1beta2.SnapshotRemovalApproved)
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			if removal(e.ObjectOld) != removal(e.ObjectNew) {
				w.removing(ctx, q, e.ObjectNew.(*v1beta2.Snapshot).Spec.Volume)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
			w.removing(ctx, q, e.Object.(*v1beta2.Snapshot).Spec.Volume)
		},
	}
}

// ofJobs enqueues everything that the job created, if what it keeps may have changed: when the process first reads it,
// when its spec changes, and when a run begins or ends.
func (w watches) ofJobs() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			w.all(ctx, q, e.Object.(*v1beta2.RecurringJob))
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			was, is := e.ObjectOld.(*v1beta2.RecurringJob), e.ObjectNew.(*v1beta2.RecurringJob)
			if was.UID != is.UID || was.Generation != is.Generation || was.Status.CurrentRun != is.Status.CurrentRun {
				w.all(ctx, q, is)
			}
		},
	}
}

// facts are what the core reads of a Snapshot or a Backup.
type facts struct {
	job, reason, taken string
	going, stalled     bool
}

func factsOf(obj client.Object) facts {
	out := facts{going: obj.GetDeletionTimestamp() != nil}
	out.job, _ = madeFor(obj)
	switch made := obj.(type) {
	case *v1beta2.Snapshot:
		out.reason, out.taken = conditions.Reason(made.Status.Conditions, v1beta2.SnapshotReady), made.Status.CreationTime
	case *v1beta2.Backup:
		out.reason, out.taken = conditions.Reason(made.Status.Conditions, v1beta2.BackupApproved), made.Status.State
		out.stalled = backup.IsStalled(made)
	}
	return out
}

// named follows the jobs that a volume names, as it was and as it is, by itself, by a group, or by its claim.
func (w watches) named(ctx context.Context, q kube.Queue, then then, volumes ...client.Object) {
	var sets []map[string]string
	for _, v := range volumes {
		sets = append(sets, v.GetLabels())
	}
	volume := volumes[0].GetName()
	sources, err := observer{reader: w.Reader}.sourcesOf(ctx, volume)
	w.failed(ctx, err)
	if labels, ok := sources[volume]; ok {
		sets = append(sets, labels)
	}
	w.follow(ctx, q, then, volume, sets...)
}

// follow follows the jobs that any of these sets of labels names.
func (w watches) follow(ctx context.Context, q kube.Queue, then then, volume string, sets ...map[string]string) {
	jobs := w.jobs(ctx)
	for i := range jobs {
		if slices.ContainsFunc(sets, func(labels map[string]string) bool { return recurring.IsFor(&jobs[i], labels) }) {
			then(ctx, q, jobs[i].Name, volume)
		}
	}
}

// removing enqueues the jobs whose runs remove snapshots of the volume.
func (w watches) removing(ctx context.Context, q kube.Queue, volume string) {
	jobs := slices.DeleteFunc(w.jobs(ctx), func(j v1beta2.RecurringJob) bool { return !recurring.Removes(&j) || !recurring.IsRunning(&j) })
	if len(jobs) == 0 {
		return
	}
	v, err := lookup.Shared(ctx, w.Reader, w.Namespace, volume, &v1beta2.Volume{})
	w.failed(ctx, err)
	if v != nil {
		sources, err := observer{reader: w.Reader}.sourcesOf(ctx, volume)
		w.failed(ctx, err)
		labels := sources.Labels(v)
		for i := range jobs {
			if recurring.IsFor(&jobs[i], labels) {
				w.Enqueue(q, jobs[i].Name)
			}
		}
	}
}

// all enqueues everything that the job created of the volumes that it is for.
func (w watches) all(ctx context.Context, q kube.Queue, job *v1beta2.RecurringJob) {
	volumes, _, err := observer{reader: w.Reader, namespace: w.Namespace}.volumes(ctx, job)
	w.failed(ctx, err)
	for _, v := range volumes {
		w.retain(ctx, q, job.Name, v.Name)
	}
}

func (w watches) job(ctx context.Context, name string) *v1beta2.RecurringJob {
	job, err := lookup.Shared(ctx, w.Reader, w.Namespace, name, &v1beta2.RecurringJob{})
	w.failed(ctx, err)
	return job
}

func (w watches) jobs(ctx context.Context) []v1beta2.RecurringJob {
	var jobs v1beta2.RecurringJobList
	w.List(ctx, &jobs)
	return jobs.Items
}

// failed reports that the cache could not be read, which happens only while the process stops.
func (w watches) failed(ctx context.Context, err error) {
	if err != nil {
		log.FromContext(ctx).Error(err, "reading from the cache")
	}
}
