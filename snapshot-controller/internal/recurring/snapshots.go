package recurring

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"time"

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

// untaken reports whether the Snapshot is still to be taken.
func untaken(s *v1beta2.Snapshot) bool {
	return s.DeletionTimestamp == nil && s.Status.CreationTime == "" &&
		conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) != v1beta2.ReasonFailed
}

// retried reports whether the engine refused a Snapshot that is to be backed up, and that it is requested again.
func (w World) retried(s *v1beta2.Snapshot) bool {
	return w.backsUp() && s.DeletionTimestamp == nil && s.Status.CreationTime == "" && snapshot.IsRequestedAgain(s)
}

// blocked reports whether the Snapshot waits for people, not in a queue.
func blocked(s *v1beta2.Snapshot) bool {
	switch conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady) {
	case v1beta2.ReasonLimitReached, v1beta2.ReasonVolumeNotFound, v1beta2.ReasonRestoring:
		return true
	}
	return false
}

// newSnapshot has its finalizer, label and owner from the beginning, so that no repair is needed.
func (w World) newSnapshot(name string, v *v1beta2.Volume) *v1beta2.Snapshot {
	labels := maps.Clone(w.Job.Spec.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1beta2.LabelRecurringJob] = w.Job.Name
	s := v1beta2.NewSnapshot(v, name)
	s.Labels[v1beta2.LabelRecurringJob] = v1beta2.LabelValue(w.Job.Name)
	s.Spec.CreateSnapshot, s.Spec.Labels = true, labels
	return s
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
