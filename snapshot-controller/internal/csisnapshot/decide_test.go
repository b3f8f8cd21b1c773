package csisnapshot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

type rule struct {
	world   World
	verdict Verdict
}

func check(t *testing.T, rules map[string]rule) {
	t.Helper()
	for sentence, r := range rules {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, r.verdict, Decide(r.world)) })
	}
}

func TestTakingASnapshot(t *testing.T) {
	limit := snapshotted(time.Second, v1beta2.ReasonLimitReached, "It is full.")
	late := snapshotted(time.Hour, v1beta2.ReasonLimitReached, "It is full.")
	failed := snapshotted(time.Second, v1beta2.ReasonFailed, "refused")
	check(t, map[string]rule{
		"it is marked before anything is created, so that its deletion is noticed": {
			asked(), Verdict{Step: StepMark, Outcome: OutcomeTaking}},
		"then the Snapshot is made": {
			asked(marked), Verdict{Step: StepCreateSnapshot, Outcome: OutcomeTaking}},
		"while it is being taken nothing is reported, for a minute": {
			asked(marked, limit), Verdict{Step: StepNone, Outcome: OutcomeTaking, RequeueAt: now.Add(59 * time.Second)}},
		"then why it is not": {
			asked(marked, late), Verdict{Step: StepStatus, Outcome: OutcomeTaking,
				Status: Status{Error: "Snapshot snapshot-" + uid + " is waiting: LimitReached: It is full."}}},
		"taken, it is ready, with its handle, time and size": {
			asked(marked, ready), Verdict{Step: StepStatus, Outcome: OutcomeReady, Status: whole}},
		"what was wrong before is forgotten then": {
			asked(marked, ready, shows(Status{Error: "late"})), Verdict{Step: StepStatus, Outcome: OutcomeReady, Status: whole}},
		"then the mark goes": {
			asked(marked, ready, shows(whole)), Verdict{Step: StepUnmark, Outcome: OutcomeReady}},
		"and it stays as it is, whatever becomes of the Snapshot": {
			asked(shows(whole)), Verdict{Step: StepNone, Outcome: OutcomeReady}},
		"one that the engine refused is answered: the mark goes first": {
			asked(marked, failed), Verdict{Step: StepUnmark, Outcome: OutcomeFailed}},
		"then it reports it": {
			asked(failed), Verdict{Step: StepStatus, Outcome: OutcomeFailed, Status: Status{Error: "refused"}}},
		"and waits: the engine is asked again for the same Snapshot": {
			asked(snapshotted(time.Hour, v1beta2.ReasonFailed, "refused"), shows(Status{Error: "refused"})),
			Verdict{Step: StepNone, Outcome: OutcomeFailed, Status: Status{Error: "refused"}}},
		"which may succeed": {
			asked(snapshotted(time.Hour, v1beta2.ReasonCreating, "It is being taken."), shows(Status{Error: "refused"})),
			Verdict{Step: StepMark, Outcome: OutcomeTaking}},
		"a content that is deleted while its VolumeSnapshot stays continues": {
			asked(marked, func(w *World) { w.Content.Deleting = true }), Verdict{Step: StepCreateSnapshot, Outcome: OutcomeTaking}},
	})
}

func TestWhatCannotBeTakenSaysWhy(t *testing.T) {
	for sentence, r := range map[string]struct {
		world World
		shows string
	}{
		"not bound":      {asked(func(w *World) { w.Content.SnapshotUID = "" }), "is not bound"},
		"no class named": {asked(func(w *World) { w.Content.ClassName, w.Class = "", nil }), "names no VolumeSnapshotClass"},
		"no such class":  {asked(func(w *World) { w.Class = nil }), "VolumeSnapshotClass class does not exist"},
		"a mode of others": {asked(func(w *World) { w.Class.BackupMode = "differential" }),
			`backupMode "differential": it can be full or incremental`},
		"a type of others": {asked(func(w *World) { w.Class.Type = "bi" }), `type "bi": snap and bak can be taken`},
		"no volume":        {asked(func(w *World) { w.Volume = nil }), "there is no volume vol-1"},
		"a volume that goes": {asked(func(w *World) {
			w.Volume.DeletionTimestamp = &metav1.Time{Time: now}
		}), "is being deleted"},
		"another's Snapshot":   {asked(ready, func(w *World) { w.Snapshot.Spec.Volume = "vol-2" }), "is of volume vol-2"},
		"an old one that goes": {asked(ready, deleting), "it is taken again once it is gone"},
	} {
		t.Run(sentence, func(t *testing.T) {
			v := Decide(r.world)
			require.Equal(t, OutcomeRefused, v.Outcome)
			require.Equal(t, StepStatus, v.Step)
			require.Contains(t, v.Status.Error, r.shows)
			r.world.Content.Status = v.Status
			require.Equal(t, StepNone, Decide(r.world).Step, "it is reported once")
		})
	}
}

func TestBackingUp(t *testing.T) {
	under := Status{Handle: "bak://vol-1/backup-" + uid, CreationTime: eleven, RestoreSize: 1000}
	done := under
	done.Ready = true
	failed := under
	failed.Error = "Backup backup-" + uid + " failed: no space; delete this VolumeSnapshot and take another"
	check(t, map[string]rule{
		"a class without a type means a backup, of the snapshot": {
			asked(backups, marked, ready), Verdict{Step: StepCreateBackup, Outcome: OutcomeUploading}},
		"as one with the older name of that type does": {
			asked(func(w *World) { w.Class.Type = "bs" }, marked, ready), Verdict{Step: StepCreateBackup, Outcome: OutcomeUploading}},
		"once that is asked for there is a handle": {
			asked(backups, marked, ready, backedUp("")), Verdict{Step: StepStatus, Outcome: OutcomeUploading, Status: under}},
		"and the mark goes": {
			asked(backups, marked, ready, backedUp(""), shows(under)), Verdict{Step: StepUnmark, Outcome: OutcomeUploading}},
		"it is copied as long as that takes": {
			asked(backups, backedUp(v1beta2.BackupInProgress), shows(under)),
			Verdict{Step: StepNone, Outcome: OutcomeUploading, Status: under}},
		"and is ready when it is whole": {
			asked(backups, backedUp(v1beta2.BackupCompleted), shows(under)),
			Verdict{Step: StepStatus, Outcome: OutcomeReady, Status: done}},
		"what failed is reported": {
			asked(backups, backedUp(v1beta2.BackupError), func(w *World) { w.Backup.Status.Error = "no space" }, shows(under)),
			Verdict{Step: StepStatus, Outcome: OutcomeFailed, Status: failed}},
	})
	v := Decide(asked(backups, backedUp(""), shows(under)))
	require.Contains(t, v.Status.Error, "is waiting: it was not evaluated yet")
	v = Decide(asked(backups, shows(under)))
	require.Equal(t, OutcomeMissing, v.Outcome, "it is not taken again: that would be another point in time")
}

func TestFindingWhatIsThere(t *testing.T) {
	check(t, map[string]rule{
		"a Snapshot": {found("snap://vol-1/old", ready), Verdict{Step: StepStatus, Outcome: OutcomeReady,
			Status: Status{Handle: "snap://vol-1/old", Ready: true, CreationTime: eleven, RestoreSize: 1000}}},
		"a Backup": {found("bak://vol-1/old", backedUp(v1beta2.BackupCompleted)), Verdict{Step: StepStatus, Outcome: OutcomeReady,
			Status: Status{Handle: "bak://vol-1/old", Ready: true, RestoreSize: 1000}}},
		"a Backup by its older handle, which stays": {found("bs://vol-1/old", backedUp(v1beta2.BackupCompleted)),
			Verdict{Step: StepStatus, Outcome: OutcomeReady,
				Status: Status{Handle: "bs://vol-1/old", Ready: true, RestoreSize: 1000}}},
		"no Snapshot": {found("snap://vol-1/old"), Verdict{Step: StepStatus, Outcome: OutcomeMissing,
			Status: Status{Error: "there is no Snapshot old of volume vol-1"}}},
		"another volume's Snapshot": {found("snap://vol-1/old", ready, func(w *World) { w.Snapshot.Spec.Volume = "vol-2" }),
			Verdict{Step: StepStatus, Outcome: OutcomeMissing, Status: Status{Error: "there is no Snapshot old of volume vol-1"}}},
		"a handle of others": {found("bi://x"), Verdict{Step: StepStatus, Outcome: OutcomeRefused,
			Status: Status{Error: `snapshot handle "bi://x" is neither snap://<volume>/<snapshot> nor bak://<volume>/<backup>`}}},
		"a Snapshot that waits": {found("snap://vol-1/old", snapshotted(0, v1beta2.ReasonCreating, "It is being taken.")),
			Verdict{Step: StepStatus, Outcome: OutcomeTaking, Status: Status{Handle: "snap://vol-1/old",
				Error: "Snapshot old is not ready: Creating: It is being taken."}}},
	})
}

func TestTheEnd(t *testing.T) {
	check(t, map[string]rule{
		"what is behind it goes first": {
			asked(going, ready, shows(whole)), Verdict{Step: StepDeleteSnapshot, Outcome: OutcomeDeleting}},
		"a Snapshot that is deleted is done with, as its data may have to stay for a while": {
			asked(going, ready, deleting, shows(whole)), Verdict{Step: StepStatus, Outcome: OutcomeGone, Confirm: true}},
		"then the finalizer goes": {
			asked(going, ready, deleting), Verdict{Step: StepRelease, Outcome: OutcomeGone, Confirm: true}},
		"one that is retained leaves everything": {
			asked(going, retained, ready, shows(whole)), Verdict{Step: StepRelease, Outcome: OutcomeGone}},
		"one that was never taken leaves nothing": {
			asked(going, marked, snapshotted(time.Hour, v1beta2.ReasonLimitReached, "full")),
			Verdict{Step: StepDeleteSnapshot, Outcome: OutcomeDeleting}},
		"nor its mark": {
			asked(going, marked), Verdict{Step: StepUnmark, Outcome: OutcomeGone, Confirm: true}},
		"the Backup goes before its Snapshot": {
			asked(going, ready, backedUp(v1beta2.BackupCompleted)), Verdict{Step: StepDeleteBackup, Outcome: OutcomeDeleting}},
		"without its VolumeSnapshot's end a content stays": {
			asked(func(w *World) { w.Content.Deleting = true }, ready, shows(whole)), Verdict{Step: StepNone, Outcome: OutcomeReady}},
		"one that was found and never bound takes along what it found": {
			found("snap://vol-1/old", ready, shows(Status{Handle: "snap://vol-1/old", Ready: true}),
				func(w *World) { w.Content.Deleting, w.Content.SnapshotUID = true, "" }),
			Verdict{Step: StepDeleteSnapshot, Outcome: OutcomeDeleting}},
		"one that found nothing takes nothing along": {
			found("snap://vol-1/old", ready, going), Verdict{Step: StepRelease, Outcome: OutcomeGone, Confirm: true}},
		"another volume's Snapshot is not deleted": {
			asked(going, ready, func(w *World) { w.Snapshot.Spec.Volume = "vol-2" }),
			Verdict{Step: StepRelease, Outcome: OutcomeGone, Confirm: true}},
	})
	v := Decide(asked(going, ready, shows(whole), func(w *World) { w.Clones = []string{"clone-1"} }))
	require.Equal(t, StepStatus, v.Step)
	require.Contains(t, v.Status.Error, "clones share or copy its data: clone-1")
}

func TestContentsOfOthersAreLeftAlone(t *testing.T) {
	for sentence, change := range map[string]func(*World){
		"another driver":         func(w *World) { w.Content.Driver = "other" },
		"another driver's class": func(w *World) { w.Class.Driver = "other" },
		"a member of a group":    func(w *World) { w.Content.Member = true },
		"a content of no source": func(w *World) { w.Content.VolumeHandle = "" },
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, Verdict{Step: StepNone, Outcome: OutcomeForeign}, Decide(asked(change)))
			require.Equal(t, Verdict{Step: StepNone, Outcome: OutcomeForeign}, Decide(asked(going, ready, change)))
		})
	}
}

func TestHandles(t *testing.T) {
	for text, fine := range map[string]bool{
		"snap://vol/name": true, "bak://vol/name": true, "bs://vol/name": true, "bi://vol/name": false, "snap://vol": false,
		"snap:///name": false,
		"snap://vol/":  false, "snap://vol/a/b": false, "vol/name": false, "": false,
	} {
		h, ok := volumesnapshot.ParseHandle(text)
		require.Equal(t, fine, ok, text)
		if ok {
			require.Equal(t, text, h.String())
		}
	}
}

// A content of an older Longhorn ends with the very Backup that its handle names.
func TestAnOlderHandleNamesItsBackup(t *testing.T) {
	w := asked(shows(Status{Handle: "bs://vol-1/backup-1", Ready: true}))
	volume, _, backup := w.Content.Names()
	require.Equal(t, "vol-1", volume)
	require.Equal(t, "backup-1", backup)
}
