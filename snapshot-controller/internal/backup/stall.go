package backup

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// An engine reports the progress of a backup in steps of ten per cent. A copy counts as stalled if the engine reports no step for
// stallPatience, or for the time of a step at slowestCopy bytes per second if that is longer.
const (
	stallPatience = 2 * time.Hour
	stepsOfCopy   = 10
	slowestCopy   = 10_000_000
)

// stalledAt returns when the backup counts as stalled unless the engine reports progress before; zero: the backup is not being copied.
func (w World) stalledAt() time.Time {
	s := w.Backup.Status
	if s.State != v1beta2.BackupInProgress {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, cmp.Or(s.ProgressedAt, s.RequestedTime))
	if err != nil {
		return time.Time{}
	}
	steps := 1
	if s.ProgressedAt == "" {
		steps += s.Progress * stepsOfCopy / 100 // a version without this field saw these steps, and did not note their times
	}
	size, _ := strconv.ParseInt(s.VolumeSize, 10, 64)
	return at.Add(time.Duration(steps) * max(stallPatience, time.Duration(size/stepsOfCopy/slowestCopy)*time.Second))
}

// isStalled reports whether the engine has reported no progress for too long.
func (w World) isStalled() bool {
	at := w.stalledAt()
	return !at.IsZero() && !w.Now.Before(at)
}

// IsStalled reports whether a Backup shows that its copy makes no progress.
func IsStalled(b *v1beta2.Backup) bool {
	return conditions.IsFalse(b.Status.Conditions, v1beta2.BackupProgressing)
}

// reportProgress adds the condition that the copy makes no progress to the list, or removes it.
func (w World) reportProgress(list []v1beta2.Condition) []v1beta2.Condition {
	if !w.isStalled() {
		return conditions.Remove(list, v1beta2.BackupProgressing)
	}
	s := w.Backup.Status
	return conditions.Set(list, v1beta2.Condition{Type: v1beta2.BackupProgressing, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonNoProgress, ObservedGeneration: w.Backup.Generation,
		Message: fmt.Sprintf("The engine copies it and has reported %d per cent since %s. Check that the backup target can be written to from "+
			"the replica at %s. No engine stops a copy on request: one that hangs ends when the volume is detached.",
			s.Progress, cmp.Or(s.ProgressedAt, s.RequestedTime), s.ReplicaAddress)}, w.Now)
}

// endsStall reports whether the backup has ended and its conditions still report that it makes no progress.
func (w World) endsStall() bool { return v1beta2.IsBackupEnded(w.Backup) && IsStalled(w.Backup) }
