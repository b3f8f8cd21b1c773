package enginepoll_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestAVolumeGrowsToTheSizeThatTheSpecHas(t *testing.T) {
	slow := quick
	slow.Period = time.Hour
	w := started(t, slow)
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.until("it never grew", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib && !e.Status.IsExpanding })
	require.Equal(t, []string{"VolumeExpand"}, w.server.changes())
}

func TestAnExpansionThatFailsIsTriedAgainAfterAWaitThatGrows(t *testing.T) {
	w := started(t, quick)
	w.server.refuse(t, "VolumeExpand", status.Error(codes.Unknown, "no space"))
	began := time.Now()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.eventually("it is not tried again", func() bool { return len(w.server.changes()) >= 3 })
	require.GreaterOrEqual(t, time.Since(began), 3*time.Second, "one second, then two")
	e := w.until("it never reports why", func(e *v1beta2.Engine) bool {
		return conditions.IsFalse(e.Status.Conditions,
			v1beta2.EngineOperations)
	})
	require.Contains(t, conditions.Get(e.Status.Conditions, v1beta2.EngineOperations).Message, name+" could not begin to grow: ")
	require.Contains(t, conditions.Get(e.Status.Conditions, v1beta2.EngineOperations).Message, "no space. It is tried again.")
	w.server.refuse(t, "VolumeExpand", nil)
	w.until("it never grew", func(e *v1beta2.Engine) bool {
		return e.Status.CurrentSize == 2*gib && conditions.IsTrue(e.Status.Conditions, v1beta2.EngineOperations)
	})
}

// R4: the engine answers OK and never reports what came of it.
func TestAnExpansionThatFailsAfterItsAnswerIsReportedAndTriedAgain(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.limits = limitWork{count: 250, silent: true} })
	w.start()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	e := w.until("it is never reported", func(e *v1beta2.Engine) bool { return e.Status.LastExpansionError != "" })
	require.EqualValues(t, gib, e.Status.CurrentSize)
	failed, err := time.Parse(time.RFC3339, e.Status.LastExpansionFailedAt)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), failed, patience)
	w.eventually("no event", func() bool { return w.emitted("ExpansionFailed") })
	w.server.do(func() { w.server.limits.silent = false })
	e = w.until("it never grew", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib })
	require.Empty(t, e.Status.LastExpansionError)
}

// R4: two polls without the new size are a failure only where the engine does not report that it expands.
func TestAnExpansionThatTakesLongHasNotFailed(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { w.server.limits, w.server.expanding = limitWork{count: 250, silent: true}, true })
	w.start()
	w.spec(map[string]any{"volumeSize": "2147483648"})
	w.until("it does not expand", func(e *v1beta2.Engine) bool { return e.Status.IsExpanding })
	w.polls(5)
	require.Empty(t, w.get().Status.LastExpansionError)
	w.server.do(func() { w.server.expanding, w.server.size = false, 2*gib })
	w.until("it never grew", func(e *v1beta2.Engine) bool { return e.Status.CurrentSize == 2*gib })
	require.False(t, w.emitted("ExpansionFailed"))
}

// volume plays those who poll after volumes.
func (w *world) volume(spec v1beta2.VolumeSpec, status map[string]any) {
	w.t.Helper()
	v := &v1beta2.Volume{ObjectMeta: w.meta("vol"), Spec: spec}
	w.create(v)
	w.status(v, status)
}

func TestDataIsNeverReplacedThatSomebodyMayUse(t *testing.T) {
	for name, c := range map[string]struct {
		frontend bool
		status   map[string]any
	}{
		"the volume has a frontend": {true,
			map[string]any{"restoreRequired": true, "cloneStatus": map[string]any{"state": v1beta2.CloneInitiated}}},
		"the volume was filled long ago": {false,
			map[string]any{"restoreRequired": false, "cloneStatus": map[string]any{"state": v1beta2.CloneCompleted}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, quick)
			w.volume(v1beta2.VolumeSpec{DisableFrontend: !c.frontend, FromBackup: "s3://b@r/?backup=backup-1&volume=old"}, c.status)
			w.engine("other-e-0", "other", v1beta2.DataEngineV1, first)
			w.runs("other-e-0", im, "run-9")
			w.start()
			w.spec(map[string]any{"requestedDataSource": "snap://other/snap-1", "requestedBackupRestore": "backup-1"})
			w.eventually("it asks for nothing", func() bool {
				return len(w.server.called("SnapshotCloneStatus")) > 3 && len(w.server.called("BackupRestoreStatus")) > 3
			})
			require.Empty(t, w.server.changes())
		})
	}
}

func TestACopyIsTakenOnceFromTheEngineOfTheOtherVolume(t *testing.T) {
	w := newWorld(t, quick)
	w.server.do(func() { // some servers tell of copies that no one began
		w.server.clones = map[string]*ptypes.SnapshotCloneStatusResponse{"tcp://" + addresses[first]: {}}
	})
	w.volume(v1beta2.VolumeSpec{DisableFrontend: true}, map[string]any{"cloneStatus": map[string]any{"state": v1beta2.CloneInitiated}})
	w.start()
	w.spec(map[string]any{"requestedDataSource": "snap://other/snap-1"})
	w.polls(3)
	require.Empty(t, w.server.called("SnapshotClone"), "the other engine does not run")
	w.engine("other-e-0", "other", v1beta2.DataEngineV1, first)
	w.runs("other-e-0", im, "run-9")
	e := w.until("it was never copied", func(e *v1beta2.Engine) bool {
		return e.Status.CloneStatus["tcp://"+addresses[first]].State == "complete"
	})
	require.Equal(t, "snap-1", e.Status.CloneStatus["tcp://"+addresses[first]].SnapshotName)
	w.server.do(func() {
		require.Len(t, w.server.clonedBy, 1)
		c := w.server.clonedBy[0]
		require.Equal(t, "other-e-0 other snap-1 "+serverAddress+":10000", c.GetFromEngineName()+" "+c.GetFromVolumeName()+" "+
			c.GetSnapshotName()+" "+c.GetFromEngineAddress())
		w.server.clones = nil
	})
	w.runs(name, im, "run-2")
	w.polls(3)
	require.Equal(t, e.Status.CloneStatus, w.get().Status.CloneStatus, "another run does not begin it again")
	require.Equal(t, []string{"SnapshotClone"}, w.server.called("SnapshotClone"))
}

func TestABackupIsRestoredOnce(t *testing.T) {
	options := quick
	options.Copying = threeAndFive
	w := newWorld(t, options)
	const url = "s3://bucket@region/?backup=backup-1&volume=old"
	w.volume(v1beta2.VolumeSpec{FromBackup: url, DisableFrontend: true}, map[string]any{"restoreRequired": true})
	w.start()
	w.spec(map[string]any{"requestedBackupRestore": "backup-1", "backupVolume": "old"})
	e := w.until("it was never restored", func(e *v1beta2.Engine) bool { return e.Status.LastRestoredBackup == "backup-1" })
	require.Equal(t, "complete", e.Status.RestoreStatus["tcp://"+addresses[first]].State)
	w.runs(name, im, "run-2")
	w.polls(3)
	w.server.do(func() {
		require.Len(t, w.server.restored, 1)
		require.Equal(t, url, w.server.restored[0].GetUrl())
		require.Equal(t, int32(5), w.server.restored[0].GetConcurrentLimit(), "restore-concurrent-limit")
	})
}

// Engines answer OK to a restore that they do not begin, and v1 lists its replicas as ones that restored nothing.
func TestARestoreThatIsNotBegunIsReportedWithTheEnginesReason(t *testing.T) {
	w := newWorld(t, quick)
	w.volume(v1beta2.VolumeSpec{FromBackup: "s3://bucket@region/?backup=backup-1&volume=old", DisableFrontend: true},
		map[string]any{"restoreRequired": true})
	w.server.do(func() { w.server.taskError = "cannot find backup_backup-1.cfg" })
	w.start()
	w.spec(map[string]any{"requestedBackupRestore": "backup-1", "backupVolume": "old"})
	e := w.until("no one reports why nothing is restored", func(e *v1beta2.Engine) bool {
		return conditions.IsFalse(e.Status.Conditions, v1beta2.EngineOperations)
	})
	require.Regexp(t, name+" could not begin to restore backup backup-1: .*cannot find backup_backup-1.cfg. It is tried again.",
		conditions.Get(e.Status.Conditions, v1beta2.EngineOperations).Message)
	w.server.do(func() { w.server.taskError = "" })
	w.until("it is not tried again", func(e *v1beta2.Engine) bool {
		return e.Status.LastRestoredBackup == "backup-1" && conditions.IsTrue(e.Status.Conditions, v1beta2.EngineOperations)
	})
}

func TestARestoreHasTheCredentialsOfTheTargetThatItIsFrom(t *testing.T) {
	w := newWorld(t, quick)
	const url = "s3://bucket@region/?backup=backup-1&volume=old"
	w.create(&corev1.Secret{ObjectMeta: w.meta("minio"),
		Data: map[string][]byte{"AWS_ACCESS_KEY_ID": []byte("id"), "AWS_SECRET_ACCESS_KEY": []byte("secret")}})
	w.create(&v1beta2.BackupTarget{ObjectMeta: w.meta("there"),
		Spec: v1beta2.BackupTargetSpec{BackupTargetURL: "s3://bucket@region/", CredentialSecret: "minio"}})
	w.volume(v1beta2.VolumeSpec{FromBackup: url, DisableFrontend: true, BackupTargetName: "there"}, map[string]any{"restoreRequired": true})
	w.start()
	w.spec(map[string]any{"requestedBackupRestore": "backup-1", "backupVolume": "old"})
	w.until("it was never restored", func(e *v1beta2.Engine) bool { return e.Status.LastRestoredBackup == "backup-1" })
	w.server.do(func() {
		require.Contains(t, w.server.restored[0].GetEnvs(), "AWS_ACCESS_KEY_ID=id")
		require.Contains(t, w.server.restored[0].GetEnvs(), "AWS_SECRET_ACCESS_KEY=secret")
	})
}

// The URL has the volume's name in the backup target; the object that describes that volume has another name.
func TestALaterBackupIsRestoredFromTheSameVolumeInTheTarget(t *testing.T) {
	w := newWorld(t, quick)
	const url = "s3://bucket@region/?backup=backup-1&volume=old"
	w.volume(v1beta2.VolumeSpec{FromBackup: url, DisableFrontend: true}, map[string]any{"restoreRequired": true})
	w.start()
	for _, backup := range []string{"backup-1", "backup-2"} {
		w.spec(map[string]any{"requestedBackupRestore": backup, "backupVolume": "old-1a2b3c4d"})
		w.until(backup+" was never restored", func(e *v1beta2.Engine) bool { return e.Status.LastRestoredBackup == backup })
	}
	w.server.do(func() {
		require.Len(t, w.server.restored, 2)
		require.Equal(t, "s3://bucket@region/?backup=backup-2&volume=old", w.server.restored[1].GetUrl())
		require.Equal(t, "s3://bucket@region/", w.server.restored[1].GetTarget())
	})
}
