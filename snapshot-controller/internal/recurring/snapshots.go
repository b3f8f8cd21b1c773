package recurring

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// patience is for how long a Snapshot that is not taken holds up its run. One whose volume cannot be attached must not
// keep the others from theirs for ever.
const patience = 15 * time.Minute

// nameLimit is how much of the job's name stands in the names of its Snapshots.
const nameLimit = 20

// Name is the name of the one Snapshot of this volume and this run of the job.
func Name(job *v1beta2.RecurringJob, run time.Time, v *v1beta2.Volume) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{job.Name, string(job.UID), format(run), v.Name, string(v.UID)}, "/")))
	return strings.TrimRight(job.Name[:min(len(job.Name), nameLimit)], "-.") + "-" + hex.EncodeToString(sum[:])[:16]
}

// progress returns which Snapshots of the run are to be asked for now, how many are being taken, and when the first of
// those has tried the run's patience.
func (w World) progress(run time.Time) (create []*v1beta2.Snapshot, busy int, wake time.Time) {
	made, waiting := map[string]bool{}, map[string]bool{}
	for _, s := range w.Snapshots {
		made[s.Name] = true
		if !untaken(s) {
			continue
		}
		waiting[s.Spec.Volume] = true
		until := s.CreationTimestamp.Add(patience)
		if blocked(s) || !w.Now.Before(until) {
			continue
		}
		busy++
		if wake.IsZero() || until.Before(wake) {
			wake = until
		}
	}
	for _, v := range w.volumes() {
		if busy+len(create) >= max(w.Job.Spec.Concurrency, 1) {
			break
		}
		// A volume that still waits for the snapshot of an earlier run gets no further one.
		if name := Name(w.Job, run, v); !made[name] && !waiting[v.Name] {
			create = append(create, w.newSnapshot(name, v))
		}
	}
	return create, busy, wake
}

// untaken tells that the Snapshot is still to be taken.
func untaken(s *v1beta2.Snapshot) bool {
	return s.DeletionTimestamp == nil && s.Status.CreationTime == "" &&
		conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) != v1beta2.ReasonFailed
}

// blocked tells that the Snapshot waits for people, not for its turn.
func blocked(s *v1beta2.Snapshot) bool {
	switch conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) {
	case v1beta2.ReasonLimitReached, v1beta2.ReasonVolumeNotFound:
		return true
	}
	return false
}

// newSnapshot has its finalizer, label and owner from the beginning, so that nobody needs to repair them.
func (w World) newSnapshot(name string, v *v1beta2.Volume) *v1beta2.Snapshot {
	labels := maps.Clone(w.Job.Spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta2.LabelRecurringJob] = w.Job.Name
	return &v1beta2.Snapshot{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Job.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{
				v1beta2.LabelVolume: v1beta2.LabelValue(v.Name), v1beta2.LabelRecurringJob: v1beta2.LabelValue(w.Job.Name),
			},
			OwnerReferences: []metav1.OwnerReference{snapshot.OwnerReference(v)},
		},
		Spec: v1beta2.SnapshotSpec{Volume: v.Name, CreateSnapshot: true, Labels: labels},
	}
}

// surplus returns of each volume of the job those of its ready Snapshots that are older than the newest retain of them.
// Without a number nothing is surplus, and nothing of the run that is under way is: it would be made again.
func (w World) surplus() []*v1beta2.Snapshot {
	if w.Job.Spec.Retain <= 0 {
		return nil
	}
	ready := map[string][]*v1beta2.Snapshot{}
	for _, s := range w.Snapshots {
		if s.DeletionTimestamp == nil && s.Spec.Labels[v1beta2.LabelRecurringJob] == w.Job.Name &&
			conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotReady) {
			ready[s.Spec.Volume] = append(ready[s.Spec.Volume], s)
		}
	}
	current, running := parseTime(w.Job.Status.CurrentRun)
	var out []*v1beta2.Snapshot
	for _, v := range w.volumes() {
		list := slices.DeleteFunc(ready[v.Name], func(s *v1beta2.Snapshot) bool { return snapshot.UID(s) != v.UID })
		slices.SortFunc(list, newerFirst)
		for _, s := range list[min(w.Job.Spec.Retain, len(list)):] {
			if !running || s.Name != Name(w.Job, current, v) {
				out = append(out, s)
			}
		}
	}
	return out
}

func newerFirst(a, b *v1beta2.Snapshot) int {
	if c := takenAt(b).Compare(takenAt(a)); c != 0 {
		return c
	}
	return strings.Compare(b.Name, a.Name)
}

func takenAt(s *v1beta2.Snapshot) time.Time {
	if t, ok := parseTime(s.Status.CreationTime); ok {
		return t
	}
	return s.CreationTimestamp.UTC()
}
