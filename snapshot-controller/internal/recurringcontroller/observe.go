package recurringcontroller

import (
	"context"
	"maps"
	"slices"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/recurring"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// observer reads worlds. It only reads.
type observer struct {
	reader    client.Reader
	namespace string
	settings  *settingcontroller.Source[setting.Values]
	clock     clock.PassiveClock
}

// observe reads the world of a job: of its volumes as many as are worked on at once, and none that the run, which is
// remembered, has finished with. nil: the job does not exist.
func (o observer) observe(ctx context.Context, name string, done *finished) (*recurring.World, error) {
	job, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.RecurringJob{})
	if job == nil || err != nil {
		done.forget(name)
		return nil, err
	}
	volumes, sources, err := o.volumes(ctx, job)
	if err != nil {
		return nil, err
	}
	if !recurring.IsRunning(job) {
		return &recurring.World{Now: o.clock.Now(), Job: job, Volumes: volumes, Sources: sources}, nil
	}
	values, err := o.settings.Current(ctx, "")
	if err != nil {
		return nil, err
	}
	w := &recurring.World{Now: o.clock.Now(), Job: job, Sources: sources, Shared: map[string]bool{},
		WhileDetached: values.JobsWhileDetached}
	left := done.of(job)
	w.Created = left.created
	for _, v := range volumes {
		if left.has(v) {
			continue
		}
		one, err := o.ofVolume(ctx, job, v, sources)
		if err != nil {
			return nil, err
		}
		left.shown(one.Snapshots)
		one.WhileDetached, one.Created = w.WhileDetached, w.Created
		delete(left.paused, v.UID)
		if why := recurring.WhyPassedOver(*one); why != "" {
			left.paused[v.UID] = why
		}
		if now, forGood := recurring.IsFinished(*one); now {
			if forGood {
				left.add(v)
			}
			continue
		}
		w.Volumes, w.Snapshots, w.Backups = append(w.Volumes, v), append(w.Snapshots, one.Snapshots...), append(w.Backups, one.Backups...)
		maps.Copy(w.Shared, one.Shared)
		if len(w.Volumes) == recurring.AtOnce(job) {
			break
		}
	}
	w.PassedOver = slices.Collect(maps.Values(left.paused))
	return w, o.readOpen(ctx, w)
}

// volumes are those that the job is for, in order, and the claims that are sources.
func (o observer) volumes(ctx context.Context, job *v1beta2.RecurringJob) ([]*v1beta2.Volume, recurring.Sources, error) {
	sources, err := o.sources(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []*v1beta2.Volume
	for volume, labels := range sources {
		if !recurring.IsFor(job, labels) {
			continue
		}
		v, err := lookup.Shared(ctx, o.reader, o.namespace, volume, &v1beta2.Volume{})
		if err != nil {
			return nil, nil, err
		}
		if v != nil {
			out = append(out, v)
		}
	}
	for _, key := range recurring.KeysOfJob(job) {
		var list v1beta2.VolumeList
		if err := o.list(ctx, &list, byKey, key); err != nil {
			return nil, nil, err
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
	}
	return recurring.Served(job, out, sources), sources, nil
}

// ofVolume reads the world of a job and one volume.
func (o observer) ofVolume(ctx context.Context, job *v1beta2.RecurringJob, v *v1beta2.Volume, sources recurring.Sources) (*recurring.World,
	error) {
	w := &recurring.World{Now: o.clock.Now(), Job: job, Volumes: []*v1beta2.Volume{v}, Sources: sources}
	if recurring.Removes(job) {
		return w, o.readAll(ctx, w, v)
	}
	return w, o.readMade(ctx, w, byMade, keyOf(job.Name, v1beta2.LabelValue(v.Name)))
}

// readAll reads all snapshots of a volume, and which of them linked clones share.
func (o observer) readAll(ctx context.Context, w *recurring.World, v *v1beta2.Volume) (err error) {
	surroundings := volumecontext.Reader{Client: o.reader, Namespace: o.namespace}
	if w.Snapshots, err = surroundings.Snapshots(ctx, v.Name); err != nil {
		return err
	}
	return o.readShared(ctx, w, v, w.Snapshots)
}

// readShared reads which of these snapshots of a volume linked clones share.
func (o observer) readShared(ctx context.Context, w *recurring.World, v *v1beta2.Volume, list []*v1beta2.Snapshot) error {
	surroundings := volumecontext.Reader{Client: o.reader, Namespace: o.namespace}
	w.Shared = map[string]bool{}
	for _, s := range list {
		clones, err := surroundings.Clones(ctx, v.Name, s.Name)
		if err != nil {
			return err
		}
		if len(clones) > 0 {
			w.Shared[s.Name] = true
		}
	}
	return nil
}

// readOpen reads what the job made of other volumes and is not done yet: it counts among what is worked on.
func (o observer) readOpen(ctx context.Context, w *recurring.World) error {
	if recurring.Removes(w.Job) {
		return nil
	}
	here := map[string]bool{}
	for _, v := range w.Volumes {
		here[v1beta2.LabelValue(v.Name)] = true
	}
	open := &recurring.World{}
	if err := o.readMade(ctx, open, byOpen, w.Job.Name); err != nil {
		return err
	}
	for _, s := range open.Snapshots {
		if _, volume := madeFor(s); !here[volume] {
			w.Snapshots = append(w.Snapshots, s)
		}
	}
	for _, b := range open.Backups {
		if _, volume := madeFor(b); !here[volume] {
			w.Backups = append(w.Backups, b)
		}
	}
	return nil
}

// readMade reads what an index has of what jobs made.
func (o observer) readMade(ctx context.Context, w *recurring.World, index, key string) error {
	var snapshots v1beta2.SnapshotList
	if err := o.list(ctx, &snapshots, index, key); err != nil {
		return err
	}
	for i := range snapshots.Items {
		w.Snapshots = append(w.Snapshots, &snapshots.Items[i])
	}
	var backups v1beta2.BackupList
	if err := o.list(ctx, &backups, index, key); err != nil {
		return err
	}
	for i := range backups.Items {
		w.Backups = append(w.Backups, &backups.Items[i])
	}
	return nil
}

// list returns the cache's own objects: the core does not modify them.
func (o observer) list(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.ListShared(ctx, o.reader, o.namespace, list, client.MatchingFields{index: key})
}
