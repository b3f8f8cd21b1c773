package recurring

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// With mostGoing deleted Snapshots, or Backups, of a volume that remain after the run's patience the job pauses for the volume: each run
// would add another Snapshot that cannot be removed.
const mostGoing = 5

// deletion is a deleted Snapshot or Backup that still exists.
type deletion struct {
	name, waitsFor string
	at             time.Time
}

// Paused explains why the job takes no further snapshot of a volume; empty: it takes snapshots.
func (w World) Paused(v *v1beta2.Volume) string {
	var snapshots, backups []deletion
	for _, s := range w.Snapshots {
		if s.Spec.Volume == v.Name && JobOf(s) == w.Job.Name && w.lasts(s.DeletionTimestamp) {
			snapshots = append(snapshots, deletion{s.Name, removalWaitsFor(s), s.DeletionTimestamp.Time})
		}
	}
	for _, b := range w.Backups {
		if b.Labels[v1beta2.LabelBackupVolume] == v1beta2.LabelValue(v.Name) && JobOfBackup(b) == w.Job.Name && w.lasts(b.DeletionTimestamp) {
			waitsFor := conditions.Reason(b.Status.Conditions, v1beta2.BackupApproved)
			backups = append(backups, deletion{b.Name, waitsFor, b.DeletionTimestamp.Time})
		}
	}
	return cmp.Or(pause(v.Name, "Snapshots", snapshots), pause(v.Name, "Backups", backups))
}

// lasts reports whether a deletion has taken longer than the run's patience.
func (w World) lasts(at *metav1.Time) bool { return at != nil && w.Now.Sub(at.Time) >= patience }

// removalWaitsFor returns the reason why the data of a deleted Snapshot is not removed.
func removalWaitsFor(s *v1beta2.Snapshot) string {
	if conditions.IsTrue(s.Status.Conditions, v1beta2.SnapshotRemovalFailed) {
		return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotRemovalFailed)
	}
	return conditions.Reason(s.Status.Conditions, v1beta2.SnapshotRemovalApproved)
}

// pause describes the deleted Snapshots or Backups of a volume that are not removed; empty if there are fewer than mostGoing.
func pause(volume, kind string, list []deletion) string {
	if len(list) < mostGoing {
		return ""
	}
	oldest := slices.MinFunc(list, func(a, b deletion) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	return fmt.Sprintf("volume %s has %d deleted %s that are still there, the oldest, %s, since %s (%s)", volume, len(list), kind, oldest.name,
		format(oldest.at), cmp.Or(oldest.waitsFor, "nothing is reported of it"))
}

// begins reports whether the run takes its first snapshot of a volume now.
func (w World) begins(v *v1beta2.Volume) bool { return w.mayBegin(v) && w.Paused(v) == "" }

// shownPauses is the largest number of volumes in the sentence on the volumes that a run passed over.
const shownPauses = 5

// retained adds the condition that names the volumes that the run passed over to the list, or removes it.
func (w World) retained(list []v1beta2.Condition) []v1beta2.Condition {
	if len(w.PassedOver) == 0 {
		return conditions.Remove(list, v1beta2.RecurringJobRetained)
	}
	all := slices.Sorted(slices.Values(w.PassedOver))
	more := ""
	if n := len(all) - shownPauses; n > 0 {
		all, more = all[:shownPauses], fmt.Sprintf("; and %d more volumes", n)
	}
	return conditions.Set(list, v1beta2.Condition{Type: v1beta2.RecurringJobRetained, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonRetentionBlocked, ObservedGeneration: w.Job.Generation,
		Message: "The last run took nothing where older ones cannot be removed: " + strings.Join(all, "; ") + more +
			". It goes on with a volume once they are gone: see the conditions of those that it names."}, w.Now)
}

// WhyPassedOver explains why the run under way takes nothing of a volume, which is the only one of this World; empty if the run takes a
// snapshot of it, or already has.
func WhyPassedOver(w World) string {
	if Removes(w.Job) {
		return ""
	}
	run, _ := parseTime(w.Job.Status.CurrentRun)
	for _, v := range w.volumes() {
		name := Name(w.Job, run, v)
		taken := w.isCreated(name) || slices.ContainsFunc(w.Snapshots, func(s *v1beta2.Snapshot) bool { return s.Name == name })
		if !taken && w.mayBegin(v) {
			return w.Paused(v)
		}
	}
	return ""
}
