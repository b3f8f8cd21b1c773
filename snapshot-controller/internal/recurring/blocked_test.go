package recurring

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// keeps applies the verdict like done, but deleted Snapshots and Backups stay: their removal is blocked.
func (w *World) keeps(v Verdict) {
	snapshots, backups := v.Delete, v.DeleteBackups
	v.Delete, v.DeleteBackups = nil, nil
	w.done(v)
	at := metav1.NewTime(w.Now)
	for _, s := range snapshots {
		s.DeletionTimestamp = &at
		s.Status.Conditions = conditions.Set(s.Status.Conditions, v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved,
			Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonPurgeDisabled}, w.Now)
	}
	for _, b := range backups {
		b.DeletionTimestamp = &at
	}
}

// runsBlocked lets an hourly job run while its deleted Snapshots and Backups stay. Like the observer it notes why a run passes a volume
// over.
func (w *World) runsBlocked(hours int) {
	for range hours {
		for range 6 {
			w.PassedOver = nil
			if len(w.Volumes) > 0 && IsRunning(w.Job) {
				if why := WhyPassedOver(*w); why != "" {
					w.PassedOver = []string{why}
				}
			}
			w.keeps(decide(*w))
			w.taken()
			w.copied(v1beta2.BackupCompleted)
		}
		w.Now = w.Now.Add(time.Hour)
	}
}

// The deletions of a job that keeps two snapshots are blocked: each of 300 runs made one more snapshot that nobody could remove.
func TestAJobPausesWhereWhatItDeletesIsNotRemoved(t *testing.T) {
	w := world("a")
	w.runsBlocked(300)
	require.LessOrEqual(t, len(w.Snapshots), w.Job.Spec.Retain+mostGoing+1)
	require.Greater(t, w.Job.Status.ExecutionCount, 290, "its runs go on")
	c := conditions.Get(w.Job.Status.Conditions, v1beta2.RecurringJobRetained)
	require.NotNil(t, c)
	require.Equal(t, v1beta2.ReasonRetentionBlocked, c.Reason)
	require.Contains(t, c.Message, "volume a has 5 deleted Snapshots that are still there, the oldest, "+w.Snapshots[0].Name)
	require.Contains(t, c.Message, v1beta2.ReasonPurgeDisabled)

	var left []*v1beta2.Snapshot
	for _, s := range w.Snapshots {
		if s.DeletionTimestamp == nil {
			left = append(left, s)
		}
	}
	w.Snapshots = left
	w.runsBlocked(1)
	require.Nil(t, conditions.Get(w.Job.Status.Conditions, v1beta2.RecurringJobRetained))
	require.Len(t, w.Snapshots, len(left)+1, "it goes on by itself")
}

func TestAJobThatBacksUpPausesWhereItsBackupsAreNotRemoved(t *testing.T) {
	w := backingUp("a")
	w.runsBlocked(50)
	require.LessOrEqual(t, len(w.Backups), w.Job.Spec.Retain+mostGoing+1)
	require.True(t, conditions.IsFalse(w.Job.Status.Conditions, v1beta2.RecurringJobRetained))
}

func TestWhatDoesNotPauseAJob(t *testing.T) {
	for name, change := range map[string]func(*World){
		"fewer are left":                        func(w *World) { w.Snapshots = w.Snapshots[1:] },
		"they were deleted a moment ago":        func(w *World) { w.Now = w.Now.Add(-patience) },
		"they are another job's":                func(w *World) { w.Job.Name = "daily" },
		"they are another volume's":             func(w *World) { w.Snapshots[0].Spec.Volume = "b" },
		"they stay because nobody deleted them": func(w *World) { w.Snapshots[0].DeletionTimestamp = nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := world("a")
			at := metav1.NewTime(w.Now.Add(-patience))
			for i := range mostGoing {
				s := w.newSnapshot(fmt.Sprint("s-", i), w.Volumes[0])
				s.DeletionTimestamp = &at
				w.Snapshots = append(w.Snapshots, s)
			}
			require.NotEmpty(t, w.Paused(w.Volumes[0]))
			change(&w)
			require.Empty(t, w.Paused(w.Volumes[0]))
		})
	}
}

// The condition names some volumes, and counts the rest.
func TestAJobNamesTheVolumesThatItPassesOver(t *testing.T) {
	w := world()
	for i := range 7 {
		w.PassedOver = append(w.PassedOver, fmt.Sprint("volume ", 6-i))
	}
	c := conditions.Get(w.retained(nil), v1beta2.RecurringJobRetained)
	require.Contains(t, c.Message, "volume 0; volume 1; volume 2; volume 3; volume 4; and 2 more volumes.")
}

// If the copy of a backup makes no progress, only its own volume waits.
func TestABackupWithoutProgressDoesNotHoldTheRun(t *testing.T) {
	w := backingUp("a", "b", "c")
	w.Job.Spec.Concurrency = 1
	for range 2 {
		w.done(decide(w))
	}
	w.taken()
	w.done(decide(w))
	b := w.Backups[0]
	b.Status.State = v1beta2.BackupInProgress
	b.Status.Conditions = conditions.Set(nil, v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonReady}, noon)
	require.Empty(t, decide(w).Create, "the run waits while it makes progress")
	b.Status.Conditions = conditions.Set(b.Status.Conditions, v1beta2.Condition{Type: v1beta2.BackupProgressing,
		Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonNoProgress}, noon)
	v := decide(w)
	require.Len(t, v.Create, 1)
	require.Equal(t, "b", v.Create[0].Spec.Volume)
}
