package recurring

import (
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Surplus returns what the job made of each of these volumes and keeps no longer. What failed is kept until something newer
// did not, and then it is not needed; nothing of the run under way is deleted: it would be created again. What linked
// clones share stays.
func Surplus(w World) (snapshots []*v1beta2.Snapshot, backups []*v1beta2.Backup) {
	if _, _, problem := w.times(); problem != "" || w.Job.DeletionTimestamp != nil || Removes(w.Job) {
		return nil, nil
	}
	current, running := parseTime(w.Job.Status.CurrentRun)
	copied := map[string]*v1beta2.Backup{}
	ofVolume := map[string][]*v1beta2.Backup{}
	for _, b := range w.Backups {
		copied[b.Name] = b
		label := b.Labels[v1beta2.LabelBackupVolume]
		ofVolume[label] = append(ofVolume[label], b)
	}
	taken := map[string][]*v1beta2.Snapshot{}
	for _, s := range w.Snapshots {
		taken[s.Spec.Volume] = append(taken[s.Spec.Volume], s)
	}
	for _, v := range w.volumes() {
		stays := func(name string) bool { return running && name == Name(w.Job, current, v) }
		for _, s := range w.surplusSnapshots(v, taken[v.Name], copied) {
			if !stays(s.Name) && !w.Shared[s.Name] {
				snapshots = append(snapshots, s)
			}
		}
		for _, b := range w.surplusBackups(v, ofVolume[v1beta2.LabelValue(v.Name)]) {
			if !stays(b.Name) {
				backups = append(backups, b)
			}
		}
	}
	return snapshots, backups
}

// surplusSnapshots: a job that backs up keeps the newest snapshot, the newest whose backup is whole, from which the next one is computed,
// and those that are yet to be copied; another keeps as many, or as old ones, as its spec says.
func (w World) surplusSnapshots(v *v1beta2.Volume, list []*v1beta2.Snapshot, copied map[string]*v1beta2.Backup) []*v1beta2.Snapshot {
	var ready, failed []*v1beta2.Snapshot
	for _, s := range list {
		switch {
		case s.DeletionTimestamp != nil || JobOf(s) != w.Job.Name || snapshot.UID(s) != v.UID:
		case conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady):
			ready = append(ready, s)
		case conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) == v1beta2.ReasonFailed:
			failed = append(failed, s)
		}
	}
	slices.SortFunc(ready, newerFirst)
	slices.SortFunc(failed, newerFirst)
	out := slices.Clone(failed[kept(failed, ready, newerFirst):])
	switch {
	case w.backsUp():
		base := slices.IndexFunc(ready, func(s *v1beta2.Snapshot) bool { return isCopied(copied[s.Name]) })
		for i, s := range ready {
			if b := copied[s.Name]; i > 0 && i != base && (b == nil || v1beta2.IsBackupEnded(b)) {
				out = append(out, s)
			}
		}
	default:
		out = append(out, unkept(w, ready, takenAt)...)
	}
	return out
}

func isCopied(b *v1beta2.Backup) bool { return b != nil && b.Status.State == v1beta2.BackupCompleted }

// unkept is what of a list, the newest first, the job does not keep: beyond the newest retain, which is all where it is 0, or
// beyond retainAge. By age the newest stays however old it is: a job that does not run any more must not take the last one along.
func unkept[T any](w World, list []T, at func(T) time.Time) []T {
	spec := w.Job.Spec
	switch {
	case spec.RetentionPolicy == policyAge:
		oldest := w.Now.Add(-retainAge(spec))
		for i := 1; i < len(list); i++ {
			if at(list[i]).Before(oldest) {
				return list[i:]
			}
		}
		return nil
	case spec.Retain <= 0:
		return nil
	}
	return list[min(spec.Retain, len(list)):]
}

// retainAge is how old what is kept by age may be; 0 or less: nothing that can be read.
func retainAge(spec v1beta2.RecurringJobSpec) time.Duration {
	age, err := time.ParseDuration(spec.RetainAge)
	if err != nil {
		return 0
	}
	return age
}

// surplusBackups are those of one volume beyond what the job keeps. Their data stays in the target. What an earlier volume of the same name
// left behind is not this one's, and may be all that is left of it. A volume that gets its data from a backup has none of its own yet: they
// may be another cluster's, which uses the same target.
func (w World) surplusBackups(v *v1beta2.Volume, list []*v1beta2.Backup) []*v1beta2.Backup {
	if filling, _ := snapshot.Filling(v); filling != "" || !w.backsUp() {
		return nil
	}
	var whole, failed []*v1beta2.Backup
	for _, b := range list {
		switch {
		case JobOfBackup(b) != w.Job.Name:
		case b.DeletionTimestamp != nil || backedUpAt(b).Before(v.CreationTimestamp.Time):
		case b.Status.State == v1beta2.BackupCompleted:
			whole = append(whole, b)
		case b.Status.State == v1beta2.BackupError:
			failed = append(failed, b)
		}
	}
	slices.SortFunc(whole, newerBackupFirst)
	slices.SortFunc(failed, newerBackupFirst)
	out := failed[kept(failed, whole, newerBackupFirst):]
	return append(slices.Clone(out), unkept(w, whole, backedUpAt)...)
}

// kept is how many of those that failed, the newest first, are kept: the newest, while nothing newer did not fail.
func kept[T any](failed, good []T, compare func(a, b T) int) int {
	if len(failed) == 0 || len(good) > 0 && compare(good[0], failed[0]) < 0 {
		return 0
	}
	return 1
}
