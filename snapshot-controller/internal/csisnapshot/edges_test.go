package csisnapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func since(ago time.Duration) func(*World) {
	return func(w *World) {
		deleting(w)
		w.Backup.DeletionTimestamp.Time = now.Add(-ago)
	}
}

// A snapshot that is being read must stay: the engine would have to break the copy off.
func TestTheEndWaitsForACopyThatReadsTheSnapshot(t *testing.T) {
	copying := backedUp(v1beta2.BackupInProgress)
	w := asked(backups, going, ready, copying, since(10*time.Second))
	w.Snapshot.DeletionTimestamp = nil
	require.Equal(t, Verdict{Step: StepNone, Outcome: OutcomeDeleting, RequeueAt: now.Add(50 * time.Second)}, Decide(w))
	w.Backup.DeletionTimestamp.Time = now.Add(-patience)
	v := Decide(w)
	require.Equal(t, StepStatus, v.Step)
	require.Equal(t, "the end of Backup backup-"+uid+" is waiting: it is still being copied", v.Status.Error)

	w.Snapshot = nil
	require.Equal(t, StepRelease, Decide(w).Step, "of a snapshot that is gone nothing is read")
	w = asked(backups, going, ready, backedUp(""), since(0))
	w.Snapshot.DeletionTimestamp = nil
	require.Equal(t, StepDeleteSnapshot, Decide(w).Step, "what was not begun reads nothing")
}

// A content whose handle is that of others has no right to what happens to have the name.
func TestWhatWasNotFoundIsNotDeleted(t *testing.T) {
	for sentence, w := range map[string]World{
		"a Backup":   found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), going),
		"a Snapshot": found("snap://vol-1/old", ready, going),
	} {
		require.Equal(t, Verdict{Step: StepRelease, Outcome: OutcomeGone, Confirm: true}, Decide(w), sentence)
	}
	w := found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), going, shows(Status{Handle: "bak://vol-1/old"}))
	require.Equal(t, StepDeleteBackup, Decide(w).Step)
}

func TestWhatGoesIsNotReady(t *testing.T) {
	v := Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), deleting))
	require.Equal(t, OutcomeFailed, v.Outcome)
	require.False(t, v.Status.Ready)
	require.Equal(t, "Backup old is being deleted", v.Status.Error)
	v = Decide(found("snap://vol-1/old", ready, deleting))
	require.False(t, v.Status.Ready)
	require.Equal(t, "Snapshot old is being deleted", v.Status.Error)
}

func TestABackupOfAnotherVolumeIsNone(t *testing.T) {
	of := func(volume string) Verdict {
		return Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), func(w *World) { w.Backup.Status.VolumeName = volume }))
	}
	require.Equal(t, OutcomeReady, of("vol-1").Outcome)
	require.Equal(t, OutcomeReady, of("").Outcome, "one that is not synchronized yet names none")
	require.Equal(t, "there is no Backup old of volume vol-1", of("vol-2").Status.Error)
}

// The API of contents has no place for an unknown time: it is when it was seen, and does not move after.
func TestATimeThatCannotBeReadIsNow(t *testing.T) {
	w := asked(marked, ready, func(w *World) { w.Snapshot.Status.CreationTime = "just now" })
	v := Decide(w)
	require.Equal(t, now.UnixNano(), v.Status.CreationTime)
	w.Content.Status, w.Now = v.Status, now.Add(time.Hour)
	require.NotEqual(t, StepStatus, Decide(w).Step)
}

func TestSizesThatAreNotKnown(t *testing.T) {
	w := asked(backups, marked, ready, backedUp(""), func(w *World) { w.Snapshot.Status.RestoreSize = 0 })
	require.EqualValues(t, 1000, Decide(w).Status.RestoreSize, "a backup needs at most what its volume has")
	w = found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), func(w *World) { w.Backup.Status.VolumeSize = "1 GiB" })
	require.Zero(t, Decide(w).Status.RestoreSize)
	w.Content.Status.RestoreSize = 7
	require.EqualValues(t, 7, Decide(w).Status.RestoreSize, "what was reported once stays")
}

// A restored volume has the data of the time at which the snapshot was taken, not of the time at which it was copied.
func TestTheTimeOfABackupIsThatOfItsSnapshot(t *testing.T) {
	created := func(snapshot, backup string) int64 {
		return Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), func(w *World) {
			w.Backup.Status.SnapshotCreatedAt, w.Backup.Status.BackupCreatedAt = snapshot, backup
		})).Status.CreationTime
	}
	require.Equal(t, eleven, created("2026-08-01T11:00:00Z", "2026-08-01T11:30:00Z"))
	require.Equal(t, eleven, created("", "2026-08-01T11:00:00Z"))
	require.Zero(t, created("", ""))
}

func TestPatienceEndsAtItsMinute(t *testing.T) {
	taking := func(ago time.Duration) Verdict {
		return Decide(asked(marked, snapshotted(ago, v1beta2.ReasonCreating, "It is being taken.")))
	}
	require.Equal(t, StepNone, taking(patience-1).Step)
	require.Equal(t, now.Add(1), taking(patience-1).RequeueAt)
	require.Equal(t, StepStatus, taking(patience).Step)
	require.Zero(t, taking(patience).RequeueAt)
}

// Both modes, and none, are the engine's; a person's misspelling must not become the other one.
func TestWhichBackupModesAClassMayHave(t *testing.T) {
	for mode, fine := range map[string]bool{"": true, "full": true, "incremental": true, "Full": false, "none": false} {
		v := Decide(asked(marked, func(w *World) { w.Class.BackupMode = mode }))
		require.Equal(t, fine, v.Outcome == OutcomeTaking, mode)
	}
}
