package csisnapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
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

// A content that was found goes without its VolumeSnapshot only where there has never been one.
func TestWhichContentsEndWithoutTheEndOfTheirVolumeSnapshot(t *testing.T) {
	for sentence, c := range map[string]struct {
		source, uid        string
		deleting, deletedV bool
		want               bool
	}{
		"found, never bound":                   {"snap://vol-1/old", "", true, false, true},
		"found and bound":                      {"snap://vol-1/old", uid, true, false, false},
		"found, its VolumeSnapshot is deleted": {"snap://vol-1/old", uid, true, true, true},
		"to be taken, not bound yet":           {"", "", true, false, false},
		"taken, its VolumeSnapshot is deleted": {"", uid, true, true, true},
		"not deleted itself":                   {"", uid, false, true, false},
		"not deleted itself, found, not bound": {"snap://vol-1/old", "", false, false, false},
	} {
		content := Content{SnapshotHandle: c.source, SnapshotUID: c.uid, Deleting: c.deleting, BeingDeleted: c.deletedV}
		require.Equal(t, c.want, content.goes(), sentence)
	}
	w := asked(func(w *World) { w.Content.Deleting, w.Content.SnapshotUID = true, "" })
	require.Equal(t, OutcomeRefused, Decide(w).Outcome, "one that is to be taken waits to be bound, or for the end of its VolumeSnapshot")
}

func TestWhatKeepsASnapshotIsNamedWhole(t *testing.T) {
	w := asked(going, ready, shows(whole), func(w *World) { w.Clones = []string{"clone-1", "clone-2"} })
	v := Decide(w)
	require.Equal(t, "Snapshot snapshot-"+uid+" cannot be deleted: clones share or copy its data: clone-1, clone-2", v.Status.Error)
	require.False(t, v.Status.Ready)
	require.Equal(t, handle, v.Status.Handle, "what is behind it is still there")
	w.Content.Status, w.Clones = v.Status, nil
	require.Equal(t, StepDeleteSnapshot, Decide(w).Step)
}

// What a content leaves behind on purpose is no conclusion from an absence: no uncached read can change it.
func TestOnlyAnEndThatRestsOnAnAbsenceIsConfirmed(t *testing.T) {
	for _, change := range []func(*World){func(*World) {}, marked} {
		require.False(t, Decide(asked(going, retained, change)).Confirm)
		require.True(t, Decide(asked(going, change)).Confirm)
	}
	for _, change := range []func(*World){func(*World) {}, retained} {
		v := Decide(asked(going, change, func(w *World) { w.Content.HasFinalizer = false }))
		require.Equal(t, Verdict{Step: StepNone, Outcome: OutcomeGone}, v, "nothing is left to be written")
	}
}

func TestABackupThatWaitsSaysSoFromItsMinuteOn(t *testing.T) {
	waiting := func(ago time.Duration, conditions ...v1beta2.Condition) Verdict {
		return Decide(asked(backups, backedUp(""), shows(Status{Handle: "bak://vol-1/backup-" + uid, CreationTime: eleven}), func(w *World) {
			w.Backup.CreationTimestamp.Time, w.Backup.Status.Conditions = now.Add(-ago), conditions
		}))
	}
	v := waiting(patience - 1)
	require.Empty(t, v.Status.Error)
	require.Equal(t, now.Add(1), v.RequeueAt)
	v = waiting(patience, v1beta2.Condition{Type: v1beta2.BackupApproved, Reason: v1beta2.ReasonTargetUnavailable, Message: "No route."})
	require.Equal(t, "Backup backup-"+uid+" is waiting: TargetUnavailable: No route.", v.Status.Error)
	require.Zero(t, v.RequeueAt)
	require.Equal(t, OutcomeUploading, v.Outcome)
	require.EqualValues(t, eleven, v.Status.CreationTime)
}

// Users sort their snapshots by this time: it is the first one that was reported.
func TestATimeThatWasReportedStays(t *testing.T) {
	old := Status{Handle: "bak://vol-1/old", Ready: true, CreationTime: 42, RestoreSize: 1000}
	later := func(w *World) { w.Backup.Status.SnapshotCreatedAt = "2026-08-01T11:30:00Z" }
	v := Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupInProgress), later, shows(Status{Handle: old.Handle, CreationTime: 42})))
	require.EqualValues(t, 42, v.Status.CreationTime)
	v = Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted), later, shows(Status{Handle: old.Handle, CreationTime: 42})))
	require.Equal(t, old, v.Status)
	v = Decide(found("bak://vol-1/old", backedUp(v1beta2.BackupInProgress), later))
	require.Equal(t, time.Date(2026, 8, 1, 11, 30, 0, 0, time.UTC).UnixNano(), v.Status.CreationTime)
}

func TestEachTypeOfAClassMeansOneKind(t *testing.T) {
	for kind, want := range map[string]Step{"": StepCreateBackup, "bak": StepCreateBackup, "bs": StepCreateBackup, "snap": StepStatus} {
		v := Decide(asked(marked, ready, func(w *World) { w.Class.Type = kind }))
		require.Equal(t, want, v.Step, kind)
	}
	for _, kind := range []string{"bi", "Snap", "snapshot", " snap", "bak "} {
		require.Equal(t, OutcomeRefused, Decide(asked(marked, ready, func(w *World) { w.Class.Type = kind })).Outcome, kind)
	}
}

func TestASizeThatIsKnownIsTheSnapshotsOwn(t *testing.T) {
	smaller := func(w *World) { w.Snapshot.Status.RestoreSize = 7 }
	require.EqualValues(t, 7, Decide(asked(backups, marked, ready, smaller, backedUp(""))).Status.RestoreSize,
		"the volume may have grown since")
	require.EqualValues(t, 7, Decide(asked(marked, ready, smaller)).Status.RestoreSize)
}

// The status of a content outlives its class: the handle says what was taken.
func TestAContentWithAHandleIsFollowedByIt(t *testing.T) {
	of := func(h string, change ...func(*World)) Verdict {
		return Decide(asked(append([]func(*World){shows(Status{Handle: h}), func(w *World) { w.Class = nil }}, change...)...))
	}
	v := of(handle, ready)
	require.Equal(t, OutcomeReady, v.Outcome)
	require.Equal(t, whole, v.Status)
	require.Equal(t, OutcomeMissing, of(handle).Outcome, "it is not taken again")
	require.Equal(t, "there is no Snapshot snapshot-"+uid+" of volume vol-1", of(handle).Status.Error)
	require.Equal(t, OutcomeReady, of("bak://vol-1/backup-"+uid, backedUp(v1beta2.BackupCompleted)).Outcome)
	require.Equal(t, "there is no Backup backup-"+uid+" of volume vol-1", of("bak://vol-1/backup-"+uid).Status.Error)
	v = of("nothing", ready)
	require.Equal(t, OutcomeRefused, v.Outcome)
	require.Contains(t, v.Status.Error, `snapshot handle "nothing" is neither`)
	require.Equal(t, StepUnmark, of(handle, ready, marked).Step, "the mark goes first")
}

func TestASnapshotIsUsableOnlyWithATimeAndWhereTheEngineSaysSo(t *testing.T) {
	for sentence, c := range map[string]struct {
		change func(*v1beta2.SnapshotStatus)
		want   Outcome
	}{
		"both":                  {func(*v1beta2.SnapshotStatus) {}, OutcomeReady},
		"no time yet":           {func(s *v1beta2.SnapshotStatus) { s.CreationTime = "" }, OutcomeTaking},
		"a time, and no longer": {func(s *v1beta2.SnapshotStatus) { s.ReadyToUse = false }, OutcomeTaking},
	} {
		change := func(w *World) { c.change(&w.Snapshot.Status) }
		require.Equal(t, c.want, Decide(asked(marked, ready, change)).Outcome, sentence)
		v := Decide(found("snap://vol-1/old", ready, change))
		require.Equal(t, c.want, v.Outcome, sentence)
		require.Equal(t, c.want == OutcomeReady, v.Status.Ready, sentence)
	}
}

func TestTheFirstThingThatAPersonHasToPutRightIsNamed(t *testing.T) {
	w := asked(ready, func(w *World) {
		w.Content.SnapshotUID, w.Content.ClassName, w.Class, w.Volume = "", "", nil, nil
	})
	class := &Class{Driver: volumesnapshot.Driver, Type: "bi", BackupMode: "all"}
	for _, step := range []struct {
		want string
		then func()
	}{
		{"VolumeSnapshotContent content is not bound to a VolumeSnapshot", func() { w.Content.SnapshotUID = uid }},
		{"VolumeSnapshotContent content names no VolumeSnapshotClass, whose parameter type states what to take",
			func() { w.Content.ClassName = "class" }},
		{"VolumeSnapshotClass class does not exist", func() { w.Class = class }},
		{`VolumeSnapshotClass class has type "bi": snap and bak can be taken`, func() { class.Type = "snap" }},
		{`VolumeSnapshotClass class has backupMode "all": it can be full or incremental`, func() { class.BackupMode = "full" }},
		{"there is no volume vol-1", func() { w.Volume = asked().Volume; w.Volume.DeletionTimestamp = &metav1.Time{Time: now} }},
		{"volume vol-1 is being deleted", func() { w.Volume.DeletionTimestamp = nil }},
	} {
		v := Decide(w)
		require.Equal(t, Verdict{Step: StepStatus, Outcome: OutcomeRefused, Status: Status{Error: step.want}}, v)
		step.then()
	}
	require.Equal(t, OutcomeReady, Decide(w).Outcome)
}
