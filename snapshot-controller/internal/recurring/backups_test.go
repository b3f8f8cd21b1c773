package recurring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// backingUp is a world whose job backs up.
func backingUp(volumes ...string) World {
	w := world(volumes...)
	w.Job.Spec.Task = v1beta2.RecurringTaskBackup
	return w
}

func TestARunThatBacksUp(t *testing.T) {
	w := backingUp("a", "b", "c")
	w.done(decide(w))
	w.done(decide(w))
	require.Len(t, w.Snapshots, 2, "no more at once than its concurrency")
	require.Empty(t, decide(w).BackUp, "what is not taken yet is not copied")
	w.taken()
	v := decide(w)
	require.Len(t, v.BackUp, 2)
	require.Empty(t, v.Create)
	b := v.BackUp[0]
	require.Equal(t, w.Snapshots[0].Name, b.Name)
	require.Equal(t, b.Name, b.Spec.SnapshotName)
	require.Equal(t, "hourly", b.Spec.Labels[v1beta2.LabelRecurringJob])
	require.Equal(t, "a", b.Labels[v1beta2.LabelBackupVolume])
	require.Equal(t, []string{v1beta2.Finalizer}, b.Finalizers)
	w.done(v)
	v = decide(w)
	require.Empty(t, v.BackUp)
	require.Empty(t, v.Create, "a volume that is copied is being worked on")
	w.copied(v1beta2.BackupCompleted)
	w.done(decide(w))
	require.Equal(t, "c", w.Snapshots[2].Spec.Volume)
	w.taken()
	w.done(decide(w))
	w.copied(v1beta2.BackupError)
	w.done(decide(w))
	require.Equal(t, 1, w.Job.Status.ExecutionCount, "a failure ends the run, too")
	require.Len(t, w.Backups, 3)
}

// Of a job with a full-backup-interval each so many runs upload everything.
func TestSomeRunsBackUpEverything(t *testing.T) {
	w := backingUp("a", "b")
	w.Job.Spec.Parameters = map[string]string{"full-backup-interval": "3"}
	w.Job.Spec.Retain = 0
	for range 7 {
		w.runs(t)
		w.Now = w.Now.Add(time.Hour)
	}
	var modes []string
	for _, b := range w.Backups {
		if b.Labels[v1beta2.LabelBackupVolume] == "a" {
			modes = append(modes, b.Spec.BackupMode)
		}
	}
	require.Equal(t, []string{"", "", "full", "", "", "full", ""}, modes)
}

// A copy may take as long as it takes; what only waits is waited for as long as for a snapshot.
func TestForHowLongABackupHoldsARunUp(t *testing.T) {
	start := func() World {
		w := backingUp("a")
		w.done(decide(w))
		w.done(decide(w))
		w.taken()
		w.done(decide(w))
		return w
	}
	approval := func(w *World, status v1beta2.ConditionStatus, reason string) {
		w.Backups[0].Status.Conditions = conditions.Set(nil,
			v1beta2.Condition{Type: v1beta2.BackupApproved, Status: status, Reason: reason}, noon)
	}
	copying := start()
	copying.Backups[0].Status.State = v1beta2.BackupInProgress
	approval(&copying, v1beta2.ConditionTrue, v1beta2.ReasonReady)
	copying.Now = noon.Add(24 * time.Hour)
	v := decide(copying)
	require.Equal(t, "2026-08-01T12:00:00Z", v.Status.CurrentRun)
	require.Zero(t, v.Enqueue)

	waiting := start()
	approval(&waiting, v1beta2.ConditionFalse, v1beta2.ReasonWaitingForAttach)
	require.Equal(t, noon.Add(patience), decide(waiting).Enqueue)
	waiting.Now = decide(waiting).Enqueue
	waiting.done(decide(waiting))
	require.Equal(t, 1, waiting.Job.Status.ExecutionCount)
	waiting.Now = noon.Add(time.Hour)
	waiting.done(decide(waiting))
	waiting.done(decide(waiting))
	require.Len(t, waiting.Snapshots, 1, "a volume that still waits for one gets no second")

	stuck := start()
	approval(&stuck, v1beta2.ConditionFalse, v1beta2.ReasonTargetUnavailable)
	stuck.done(decide(stuck))
	require.Equal(t, 1, stuck.Job.Status.ExecutionCount, "a Backup that waits for people blocks no other")
}

// The next backup is computed from the snapshot of the last one that is whole: it stays until there is a newer one.
func TestTheBaseOfTheNextBackupStays(t *testing.T) {
	w := backingUp("a")
	w.runs(t)
	base := w.Snapshots[0].Name
	names := func() (out []string) {
		for _, s := range w.Snapshots {
			out = append(out, s.Name)
		}
		return out
	}
	var next string
	for _, state := range []string{v1beta2.BackupError, v1beta2.BackupError, v1beta2.BackupCompleted} {
		w.Now = w.Now.Add(time.Hour)
		w.done(decide(w))
		w.done(decide(w))
		w.taken()
		w.done(decide(w))
		next = w.Snapshots[len(w.Snapshots)-1].Name
		require.Equal(t, []string{base, next}, names(), "it is not copied yet")
		w.copied(state)
		w.done(decide(w))
		w.done(decide(w))
		require.Empty(t, w.Job.Status.CurrentRun)
		if state == v1beta2.BackupError {
			require.Equal(t, []string{base, next}, names(), "the last one that is whole stays")
		}
	}
	require.Equal(t, []string{next}, names())
}

// A snapshot that the engine refuses is requested again: it is backed up once it is taken, and holds no slot for longer than any other.
func TestARefusedSnapshotIsBackedUpOnceItIsTaken(t *testing.T) {
	start := func(task string) World {
		w := world("a")
		w.Job.Spec.Task = task
		w.done(decide(w))
		w.done(decide(w))
		shows(w.Snapshots[0], v1beta2.ReasonFailed)
		refuses(w.Snapshots[0])
		return w
	}
	w := start(v1beta2.RecurringTaskBackup)
	require.Equal(t, noon.Add(patience), Decide(w).Enqueue)
	now, forGood := IsFinished(w)
	require.False(t, now || forGood)
	w.Now = noon.Add(10 * time.Second)
	w.taken()
	require.Len(t, Decide(w).BackUp, 1)

	w = start(v1beta2.RecurringTaskBackup)
	w.Now = noon.Add(patience)
	now, forGood = IsFinished(w)
	require.True(t, now && !forGood, "it may be taken while the run lasts")
	w.done(decide(w))
	require.Equal(t, 1, w.Job.Status.ExecutionCount)
	w.Now = noon.Add(time.Hour)
	w.done(decide(w))
	require.Len(t, Decide(w).Create, 1, "the next run has its own")

	w = start(v1beta2.RecurringTaskSnapshot)
	now, forGood = IsFinished(w)
	require.True(t, now && forGood)
}

// refuses: the engine refused it a moment after it was requested.
func refuses(s *v1beta2.Snapshot) {
	s.Status.RequestedTime = format(noon)
	s.Status.Conditions = append(s.Status.Conditions, v1beta2.Condition{Type: v1beta2.SnapshotProvisioned, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonFailed, LastProbeTime: format(noon.Add(time.Second)), LastTransitionTime: format(noon.Add(time.Second))})
}

// A Backup that can never begin does not keep its volume from further ones.
func TestABackupThatCanNeverBeginBlocksNoFurtherOne(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*World)
		blocks bool
	}{
		"it waits for its target":      {func(*World) {}, true},
		"its Snapshot is gone":         {func(w *World) { w.Snapshots = nil }, false},
		"its Snapshot goes":            {func(w *World) { w.Snapshots[0].DeletionTimestamp = &metav1.Time{Time: noon} }, false},
		"it is of an earlier volume":   {func(w *World) { w.Volumes[0].CreationTimestamp = metav1.NewTime(noon.Add(time.Minute)) }, false},
		"it was begun":                 {func(w *World) { w.Snapshots, w.Backups[0].Status.State = nil, v1beta2.BackupInProgress }, true},
		"it copies another's Snapshot": {func(w *World) { w.Snapshots, w.Backups[0].Spec.SnapshotName = nil, "other" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := backingUp("a")
			w.done(decide(w))
			w.done(decide(w))
			w.taken()
			w.done(decide(w))
			require.Len(t, w.Backups, 1)
			w.Backups[0].Status.Conditions = conditions.Set(nil,
				v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonTargetUnavailable}, noon)
			w.done(decide(w))
			require.Equal(t, 1, w.Job.Status.ExecutionCount)
			test.change(&w)
			w.Now = noon.Add(time.Hour)
			w.done(decide(w))
			require.Equal(t, test.blocks, len(Decide(w).Create) == 0)
		})
	}
}

// Of each volume the newest backups are kept, and the one snapshot from which the next backup is computed.
func TestWhatAJobThatBacksUpKeeps(t *testing.T) {
	w := backingUp("a", "b")
	for range 4 {
		w.runs(t)
		w.Now = w.Now.Add(time.Hour)
	}
	w.Now = w.Now.Add(-30 * time.Minute)
	w.done(decide(w))
	require.Len(t, w.Snapshots, 2)
	require.Len(t, w.Backups, 4)
	for _, b := range w.Backups {
		require.Contains(t, []string{"2026-08-01T14:00:00Z", "2026-08-01T15:00:00Z"}, b.Status.BackupCreatedAt)
	}

	earlier := w.Backups[0].DeepCopy()
	earlier.Name, earlier.Status.BackupCreatedAt = "of an earlier volume of the name", "2020-01-01T00:00:00Z"
	w.Volumes[0].CreationTimestamp, w.Volumes[1].CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour)), metav1.NewTime(noon.Add(-time.Hour))
	w.Backups = append(w.Backups, earlier)
	require.Empty(t, decide(w).DeleteBackups, "it may be all that is left of that volume")
	w.Backups[0].Status.State = v1beta2.BackupError
	v := decide(w)
	require.Equal(t, []*v1beta2.Backup{w.Backups[0]}, v.DeleteBackups, "one that failed goes once a newer one did not")
	w.Volumes = nil
	require.Empty(t, decide(w).DeleteBackups, "backups outlive their volume")
}
