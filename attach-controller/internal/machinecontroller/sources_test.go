package machinecontroller

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit/shell"
)

// A12.
func TestAVolumeIsRestoredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.FromBackup = "s3://target?backup=b-1&volume=old" })
	w.replica(v, "r-1", "node-1")
	w.replica(v, "r-2", "node-2")
	w.is(v, "to be restored", func(v *v1beta2.Volume) bool { return v.Status.RestoreRequired && v.Status.RestoreInitiated })
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "asked to restore", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == "b-1" })
	require.Equal(t, "old", e.Spec.BackupVolume)
	w.status(e, map[string]any{"restoreStatus": map[string]any{"tcp://r-1": map[string]any{"isRestoring": true, "progress": 50}}})
	w.quiet(p)
	w.is(v, "still to be restored", func(v *v1beta2.Volume) bool { return v.Status.RestoreRequired })
	w.status(e, map[string]any{"lastRestoredBackup": "b-1",
		"restoreStatus": map[string]any{"tcp://r-1": map[string]any{"isRestoring": false}}})
	w.is(v, "restored", func(v *v1beta2.Volume) bool { return !v.Status.RestoreRequired && v.Status.RestoreInitiated })
	w.quiet(p)
	w.once("Restored")
}

// backupVolume creates Longhorn's object of a volume in a backup target: its object has a name of its own.
func (w *world) backupVolume(name, target, volume, last string) *v1beta2.BackupVolume {
	w.t.Helper()
	b := &v1beta2.BackupVolume{ObjectMeta: w.meta(name), Spec: v1beta2.BackupVolumeSpec{BackupTargetName: target, VolumeName: volume}}
	w.create(b)
	w.newest(b, last)
	return b
}

// newest sets the newest backup of a backup volume.
func (w *world) newest(b *v1beta2.BackupVolume, last string) {
	w.t.Helper()
	w.status(b, map[string]any{"lastBackupName": last, "lastBackupAt": "2026-08-01T09:00:00Z"})
}

// Two objects have the name in the target, one of them of another target, and a third has it as its own name.
func TestARestoreNamesTheBackupVolumeThatDescribesTheVolumeInTheTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.backupVolume("old", "default", "another", "b-9")
	w.backupVolume("old-11112222", "elsewhere", "old", "b-9")
	w.backupVolume("old-33334444", "default", "old", "b-9")
	p := w.start()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.FromBackup = "s3://target?backup=b-1&volume=old" })
	w.replica(v, "r-1", "node-1")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "asked to restore", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore != "" })
	require.Equal(t, "b-1 of old-33334444", e.Spec.RequestedBackupRestore+" of "+e.Spec.BackupVolume)
	w.quiet(p)
}

// standby creates a standby volume of a volume that the target describes with backup b-2.
func (w *world) standby() (described *v1beta2.BackupVolume, p *shell.Process, v *v1beta2.Volume) {
	w.t.Helper()
	described = w.backupVolume("old-33334444", "default", "old", "b-2")
	p = w.start()
	return described, p, w.volume(vol, func(s *v1beta2.VolumeSpec) {
		s.FromBackup, s.Standby, s.NumberOfReplicas = "s3://target?backup=b-1&volume=old", true, 1
	})
}

func TestAStandbyVolumeFollowsTheNewestBackupUntilItIsActivated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	described, p, v := w.standby()
	w.replica(v, "r-1", "node-1")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	has := func(backup string) {
		w.t.Helper()
		e := w.engine(vol+"-e-0", "asked to restore "+backup,
			func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == backup })
		require.Equal(t, described.Name, e.Spec.BackupVolume)
		url := "s3://target?backup=" + backup + "&volume=old"
		w.status(e, map[string]any{"lastRestoredBackup": backup,
			"restoreStatus": map[string]any{"tcp://r-1": map[string]any{"lastRestored": backup, "backupURL": url, "error": nil}}})
	}
	standby := func(backup string) {
		w.t.Helper()
		w.quiet(p)
		w.is(v, "a standby volume at "+backup, func(v *v1beta2.Volume) bool {
			s := v.Status
			return s.IsStandby && s.RestoreRequired && s.LastBackup == backup && s.LastBackupAt != "" && v.Spec.Frontend == ""
		})
	}
	has("b-2")
	standby("b-2")
	e := &v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}
	failed := map[string]any{"error": "gone", "backupURL": "s3://target?backup=b-2&volume=old"}
	w.status(e, map[string]any{"restoreStatus": map[string]any{"tcp://r-1": failed}})
	w.newest(described, "b-3")
	has("b-3")
	standby("b-3")

	w.status(e, map[string]any{"purgeStatus": map[string]any{"tcp://r-1": map[string]any{"isPurging": true}}})
	w.spec(v, map[string]any{"Standby": false})
	w.is(v, "waiting for the end of the purge", func(v *v1beta2.Volume) bool {
		c := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
		return v.Status.IsStandby && strings.Contains(c.Message, "The standby volume is activated once")
	})
	w.newest(described, "b-4")
	has("b-4")
	w.status(e, map[string]any{"purgeStatus": map[string]any{"tcp://r-1": map[string]any{"isPurging": false}}})
	w.is(v, "activated", func(v *v1beta2.Volume) bool { return !v.Status.IsStandby && !v.Status.RestoreRequired })
	w.newest(described, "b-5")
	w.quiet(p)
	w.engine(e.Name, "asked for no backup any more", func(e *v1beta2.Engine) bool {
		return e.Spec.RequestedBackupRestore == "" && e.Spec.BackupVolume == ""
	})
	w.once("Restored")
}

func TestAStandbyVolumeGrowsBeforeItIsFilledWithALargerBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	described, p, v := w.standby()
	small := v.Spec.Size
	w.status(described, map[string]any{"size": strconv.FormatInt(small, 10)})
	w.replica(v, "r-1", "node-1")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "asked to restore b-2", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == "b-2" })
	w.status(e, map[string]any{"currentSize": strconv.FormatInt(small, 10), "lastRestoredBackup": "b-2"})
	says := func(words string) {
		w.t.Helper()
		w.is(v, words, func(v *v1beta2.Volume) bool {
			c := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
			return c != nil && strings.Contains(c.Message, words)
		})
	}
	w.status(described, map[string]any{"size": strconv.FormatInt(2*small, 10), "lastBackupName": "b-3"})
	w.is(v, "as large as its backups", func(v *v1beta2.Volume) bool { return v.Spec.Size == 2*small })
	w.status(v, map[string]any{"acceptedSize": 2 * small}) // there is room for it
	w.engine(e.Name, "asked to restore b-3", func(e *v1beta2.Engine) bool {
		require.False(t, e.Spec.RequestedBackupRestore == "b-3" && e.Status.CurrentSize < 2*small, "it has not grown yet")
		return e.Spec.RequestedBackupRestore == "b-3" && e.Spec.VolumeSize == 2*small
	})
	w.quiet(p)
	w.status(described, map[string]any{"size": strconv.FormatInt(small, 10), "lastBackupName": "b-4"})
	says("from backups of its own size only")
	w.engine(e.Name, "left with b-3", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == "b-3" })
}

func TestARestoreThatFailsOnAllReplicasFaultsTheVolumeWithItsError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.FromBackup = "s3://target?backup=b-1&volume=old" })
	w.replica(v, "r-1", "node-1")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "asked to restore", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == "b-1" })
	w.status(e, map[string]any{"restoreStatus": map[string]any{"tcp://" +
		e.Spec.ReplicaAddressMap["r-1"]: map[string]any{"error": "no such backup"}}})
	w.is(v, "faulted", func(v *v1beta2.Volume) bool {
		c := conditions.Get(v.Status.Conditions, v1beta2.VolumeFaulted)
		return v.Status.RestoreRequired && v.Status.Robustness == v1beta2.VolumeRobustnessFaulted &&
			c.Message == "Restoring backup b-1 failed on all replicas: no such backup."
	})
	w.quiet(p)
	w.once("Faulted")
}

func TestARestoreThatFailsOnOneReplicaEndsWithoutIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.volume(vol, func(s *v1beta2.VolumeSpec) { s.FromBackup = "s3://target?backup=b-1&volume=old" })
	w.replica(v, "r-1", "node-1")
	failed := w.replica(v, "r-2", "node-2")
	w.spec(v, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	e := w.engine(vol+"-e-0", "asked to restore", func(e *v1beta2.Engine) bool { return e.Spec.RequestedBackupRestore == "b-1" })
	at := func(replica string) string { return "tcp://" + e.Spec.ReplicaAddressMap[replica] }
	w.status(e, map[string]any{"restoreStatus": map[string]any{at("r-1"): map[string]any{"lastRestored": "b-1"},
		at("r-2"): map[string]any{"error": "no space"}}})
	w.engine(e.Name, "without the replica that failed", func(e *v1beta2.Engine) bool { return e.Spec.ReplicaAddressMap["r-2"] == "" })
	require.Eventually(t, func() bool {
		return w.admin.Get(t.Context(), client.ObjectKeyFromObject(failed), failed) == nil &&
			failed.Spec.DesireState == v1beta2.InstanceStateStopped
	}, patience, poll)
	require.NotEmpty(t, failed.Spec.FailedAt)
	w.status(e, map[string]any{"lastRestoredBackup": "b-1", "restoreStatus": map[string]any{at("r-2"): nil}})
	w.is(v, "restored", func(v *v1beta2.Volume) bool { return !v.Status.RestoreRequired && v.Status.RestoreInitiated })
	w.quiet(p)
	w.once("ReplicaFailed")
	w.once("Degraded")
	w.once("Restored")
}

// cloning creates a volume that is attached to node-3 and copied from one that is attached to node-1.
func (w *world) cloning() (source, target *v1beta2.Volume) {
	w.t.Helper()
	source, target = w.waitingForSnapshot()
	w.snapshot(source, "s-1")
	w.copies("s-1")
	return source, target
}

func (w *world) copies(snapshot string) {
	w.t.Helper()
	w.engine("copy-e-0", "asked to copy", func(e *v1beta2.Engine) bool { return e.Spec.RequestedDataSource == "snap://vol-1/"+snapshot })
}

// waitingForSnapshot is cloning before the source has the snapshot.
func (w *world) waitingForSnapshot() (source, target *v1beta2.Volume) {
	w.t.Helper()
	target = w.volume("copy", func(s *v1beta2.VolumeSpec) { s.DataSource, s.NumberOfReplicas = "snap://vol-1/s-1", 1 })
	w.replica(target, "c-1", "node-1")
	w.is(target, "to be copied", func(v *v1beta2.Volume) bool {
		c := v.Status.CloneStatus
		return c.State == v1beta2.CloneInitiated && c.SourceVolume == vol && c.Snapshot == "s-1"
	})
	w.spec(target, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(target, v1beta2.VolumeStateAttached, "node-3")
	said := w.is(target, "waiting", func(v *v1beta2.Volume) bool { return v.Status.Robustness == v1beta2.VolumeRobustnessHealthy })
	require.Contains(w.t, conditions.Get(said.Status.Conditions, v1beta2.VolumeAttached).Message, "vol-1")
	source = w.attached(v1beta2.DataEngineV1, "node-1")
	w.is(target, "waiting for the snapshot", func(v *v1beta2.Volume) bool {
		return strings.Contains(conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached).Message,
			"Volume vol-1 has no snapshot s-1 to copy yet.")
	})
	return source, target
}

// The engine may list another snapshot in its place until then.
func TestACloneBeginsOnceTheEngineListsItsSnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	w.waitingForSnapshot()
	source := &v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}
	w.status(source, map[string]any{"snapshots": map[string]any{"another": map[string]any{"name": "another"}}})
	w.quiet(p)
	w.status(source, map[string]any{"snapshots": map[string]any{"another": nil, "s-1": map[string]any{"name": "s-1"}}})
	w.copies("s-1")
}

// snapshot creates a ready one of a volume.
func (w *world) snapshot(v *v1beta2.Volume, name string) {
	w.t.Helper()
	s := &v1beta2.Snapshot{ObjectMeta: w.meta(name), Spec: v1beta2.SnapshotSpec{Volume: v.Name}}
	w.create(s)
	w.status(s, map[string]any{"readyToUse": true})
}

// A clone of a whole volume: its snapshot is created, copied and deleted again.
func TestAWholeVolumeIsCopied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	target := w.volume("copy", func(s *v1beta2.VolumeSpec) { s.DataSource, s.NumberOfReplicas = "vol://vol-1", 1 })
	w.replica(target, "c-1", "node-1")
	w.spec(target, map[string]any{"nodeID": "node-3", "disableFrontend": true})
	w.reaches(target, v1beta2.VolumeStateAttached, "node-3")
	w.is(target, "waiting for its source", func(v *v1beta2.Volume) bool {
		return strings.Contains(conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached).Message,
			"Volume vol-1, which is to be copied, does not exist")
	})
	w.attached(v1beta2.DataEngineV1, "node-1")
	made := &v1beta2.Snapshot{ObjectMeta: w.meta("clone-" + string(target.UID))}
	require.Eventually(t, func() bool { return w.admin.Get(t.Context(), client.ObjectKeyFromObject(made), made) == nil }, patience, poll)
	require.Equal(t, v1beta2.SnapshotSpec{Volume: vol, CreateSnapshot: true}, made.Spec)
	w.status(made, map[string]any{"readyToUse": true})
	w.copies(made.Name)
	w.copied("complete", "")
	w.is(target, "a copy", func(v *v1beta2.Volume) bool {
		return v.Status.CloneStatus.State == v1beta2.CloneCompleted && v.Status.CloneStatus.Snapshot == made.Name
	})
	require.Eventually(t, func() bool {
		return w.admin.Get(t.Context(), client.ObjectKeyFromObject(made), made) == nil && made.DeletionTimestamp != nil
	}, patience, poll, "its finalizer is snapshot-controller's")
	w.quiet(p)
	w.once("Cloned")
}

func (w *world) copied(state, why string) {
	w.t.Helper()
	w.status(&v1beta2.Engine{ObjectMeta: w.meta("copy-e-0")},
		map[string]any{"cloneStatus": map[string]any{"tcp://c-1": map[string]any{"state": state, "error": why}}})
}

// A12.
func TestACloneIsCopiedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	_, target := w.cloning()
	w.copied("in_progress", "")
	w.quiet(p)
	w.copied("complete", "")
	w.is(target, "a copy", func(v *v1beta2.Volume) bool { return v.Status.CloneStatus.State == v1beta2.CloneCompleted })
	w.quiet(p)
	w.once("Cloned")
}

func TestACloneThatFailsReportsWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	_, target := w.cloning()
	w.copied("error", "no space")
	w.is(target, "failed", func(v *v1beta2.Volume) bool { return v.Status.CloneStatus.State == v1beta2.CloneFailed })
	w.quiet(p)
	w.once("CloneFailed")
}
