package recurring

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// Surplus returns what the job made of each of these volumes and keeps no longer. What failed is kept until something newer
// did not, and then nobody needs it; nothing of the run that is under way goes: it would be made again.
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
			if !stays(s.Name) {
				snapshots = append(snapshots, s)
			}
		}
		for _, b := range w.surplusBackups(ofVolume[v1beta2.LabelValue(v.Name)]) {
			if !stays(b.Name) {
				backups = append(backups, b)
			}
		}
	}
	return snapshots, backups
}

// surplusSnapshots: a job that backs up keeps the newest snapshot, from which the next backup is told apart, and those
// that are yet to be copied; another keeps the newest retain of them, or all where it names no number.
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
	out := failed[kept(failed, ready, newerFirst):]
	switch {
	case w.backsUp():
		out = append(slices.Clone(out), slices.DeleteFunc(slices.Clone(ready[min(1, len(ready)):]), func(s *v1beta2.Snapshot) bool {
			b := copied[s.Name]
			return b != nil && !v1beta2.IsBackupEnded(b)
		})...)
	case w.Job.Spec.Retain > 0:
		out = append(slices.Clone(out), ready[min(w.Job.Spec.Retain, len(ready)):]...)
	}
	return out
}

// surplusBackups are those beyond the newest retain of one volume. Their data stays in the target.
func (w World) surplusBackups(list []*v1beta2.Backup) []*v1beta2.Backup {
	if !w.backsUp() {
		return nil
	}
	var whole, failed []*v1beta2.Backup
	for _, b := range list {
		switch {
		case b.DeletionTimestamp != nil:
		case b.Status.State == v1beta2.BackupCompleted:
			whole = append(whole, b)
		case b.Status.State == v1beta2.BackupError:
			failed = append(failed, b)
		}
	}
	slices.SortFunc(whole, newerBackupFirst)
	slices.SortFunc(failed, newerBackupFirst)
	out := failed[kept(failed, whole, newerBackupFirst):]
	if w.Job.Spec.Retain > 0 {
		out = append(slices.Clone(out), whole[min(w.Job.Spec.Retain, len(whole)):]...)
	}
	return out
}

// kept is how many of those that failed, the newest first, are kept: the newest, while nothing newer did not fail.
func kept[T any](failed, good []T, compare func(a, b T) int) int {
	if len(failed) == 0 || len(good) > 0 && compare(good[0], failed[0]) < 0 {
		return 0
	}
	return 1
}
