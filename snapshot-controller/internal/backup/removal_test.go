package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const storedURL = "nfs://server/path?backup=backup-1&volume=vol-1"

// going is a whole Backup that somebody deleted, and that is marked as such.
func going(changes ...func(*World)) World {
	w := world(deleted, detached, state(v1beta2.BackupDeleting), func(w *World) {
		w.Attachment = nil
		w.Backup.Status.URL, w.Backup.Status.VolumeName = storedURL, "vol-1"
	})
	for _, change := range changes {
		change(&w)
	}
	return w
}

func TestADeletedBackupTakesItsDataAlong(t *testing.T) {
	require.Equal(t, StepMarkDeleting, Decide(going(state(v1beta2.BackupCompleted))).Step, "that is on record before anything is removed")
	require.Equal(t, StepRemove, Decide(going()).Step)
	require.Equal(t, StepDropFinalizer, Decide(going(func(w *World) { w.Removal.Gone = true })).Step)
}

// What nobody asked for, or what is not where it was stored, is not removed.
func TestDataStaysUnlessSomebodyDeletedItsBackupWhereItIs(t *testing.T) {
	for name, change := range map[string]func(*World){
		"label":              func(w *World) { w.Backup.Labels[v1beta2.LabelObjectOnly] = "" },
		"uninstalled":        func(w *World) { w.Removal.Uninstalled = "Namespace longhorn-system is being deleted" },
		"its owner ends":     func(w *World) { w.Removal.OwnerEnds = "Its BackupVolume is gone" },
		"no target":          func(w *World) { w.Target = nil },
		"the target's end":   func(w *World) { w.Target.DeletionTimestamp = &metav1.Time{Time: noon} },
		"no URL any more":    func(w *World) { w.Target.Spec.BackupTargetURL = "" },
		"another URL":        func(w *World) { w.Target.Spec.BackupTargetURL = "nfs://server/other" },
		"an unnamed volume":  func(w *World) { w.Backup.Status.VolumeName = "" },
		"nothing was copied": func(w *World) { w.Backup.Status.URL = "" },
	} {
		for _, of := range []string{v1beta2.BackupCompleted, v1beta2.BackupDeleting} {
			v := Decide(going(change, state(of)))
			require.Equal(t, StepDropFinalizer, v.Step, name)
			if name != "nothing was copied" {
				require.Contains(t, v.Message, "its data stays in the target", name)
			}
		}
	}
}

func TestADeletedBackupWaitsWhileAVolumeIsFilledFromIt(t *testing.T) {
	v := Decide(going(func(w *World) { w.Removal.Restoring = "vol-2" }))
	require.Equal(t, StepSay, v.Step)
	require.Equal(t, v1beta2.ReasonRestoring, v.Condition.Reason)
	require.Equal(t, noon.Add(looksAgain), v.Enqueue)
}

func TestARemovalThatFailsIsRepeatedAndShowsWhy(t *testing.T) {
	failed := func(w *World) { w.Removal.Problem, w.Removal.Again = "access denied", noon.Add(time.Minute) }
	v := Decide(going(failed))
	require.Equal(t, v1beta2.ReasonRemovalFailed, v.Condition.Reason)
	require.Contains(t, v.Condition.Message, "access denied. ")
	require.Contains(t, v.Condition.Message, v1beta2.LabelObjectOnly)
	require.Equal(t, noon.Add(time.Minute), v.Enqueue)
	v = Decide(going(failed, func(w *World) { w.Removal.Again = noon }))
	require.Equal(t, StepRemove, v.Step)
	v = Decide(going(func(w *World) { w.Removal.Running = true }))
	require.Equal(t, v1beta2.ReasonRemoving, v.Condition.Reason)
	v = Decide(going(func(w *World) {
		w.Removal.Running = true
		w.Backup.Status.Conditions = conditions.Set(nil, v.Condition, noon)
	}))
	require.Equal(t, StepNone, v.Step)
}

// What a failed copy left in the target keeps blocks there that nothing uses.
func TestAFailedBackupTakesAlongWhatItLeft(t *testing.T) {
	failed := func(w *World) {
		w.Backup.Status.State, w.Backup.Status.URL, w.Backup.Status.EngineRun = v1beta2.BackupError, "", "run-1"
	}
	require.Equal(t, StepMarkDeleting, Decide(going(failed)).Step)
	require.Equal(t, StepRemove, Decide(going(failed, state(v1beta2.BackupDeleting))).Step)
	v := Decide(going(failed, func(w *World) { w.Backup.Status.EngineRun = "" }))
	require.Equal(t, StepDropFinalizer, v.Step, "no engine was asked")
}

func TestAFailedBackupGoesByItselfInTime(t *testing.T) {
	failed := func(w *World) {
		w.Backup.Status.State, w.FailedTTL, w.Attachment = v1beta2.BackupError, time.Hour, nil
		w.Backup.Status.ProgressedAt = noon.Add(-time.Hour).Format(time.RFC3339)
	}
	require.Equal(t, StepDelete, Decide(world(failed)).Step)
	v := Decide(world(failed, func(w *World) { w.Backup.Status.ProgressedAt = noon.Add(-time.Minute).Format(time.RFC3339) }))
	require.NotEqual(t, StepDelete, v.Step)
	require.Equal(t, noon.Add(59*time.Minute), v.Enqueue)
	require.NotEqual(t, StepDelete, Decide(world(failed, func(w *World) { w.FailedTTL = 0 })).Step, "0 is never")
	require.NotEqual(t, StepDelete, Decide(world(failed, state(v1beta2.BackupCompleted))).Step)
}

func TestWhichBackupAVolumeIsFilledFrom(t *testing.T) {
	b := going().Backup
	v := &v1beta2.Volume{Spec: v1beta2.VolumeSpec{FromBackup: storedURL},
		Status: v1beta2.VolumeStatus{State: "attached", RestoreRequired: true}}
	require.True(t, IsFilledFrom(b, v, nil))
	v.Status.RestoreRequired = false
	require.False(t, IsFilledFrom(b, v, nil), "it was filled")
	v.Status.State = ""
	require.True(t, IsFilledFrom(b, v, nil), "it has not begun")
	e := &v1beta2.Engine{Spec: v1beta2.EngineSpec{RequestedBackupRestore: "backup-1"}}
	require.True(t, IsFilledFrom(b, v, e), "a standby volume restores it")
	e.Spec.RequestedBackupRestore = "backup-2"
	require.False(t, IsFilledFrom(b, v, e), "a standby volume restores another one")
	v.Spec.FromBackup = "nfs://other/path?backup=backup-1&volume=vol-1"
	require.False(t, IsFilledFrom(b, v, nil), "from another place")
	v.Spec.FromBackup = ""
	require.False(t, IsFilledFrom(b, v, nil))
}
