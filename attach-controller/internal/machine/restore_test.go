package machine

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestAStandbyVolumeHasTheSizeOfABackupBeforeItIsFilledWithIt(t *testing.T) {
	const was = int64(1 << 30)
	for name, c := range map[string]struct {
		stored, engine int64
		labels         map[string]string
		encrypted      bool
		size           any
		asked          bool
		says           string
	}{
		"the backups have its size": {stored: was, engine: was, asked: true},
		"their size is unknown":     {engine: was, asked: true},
		"they are larger": {stored: 2 * was, engine: was, size: strconv.FormatInt(2*was, 10),
			says: "it grows first"},
		"its engine is smaller": {stored: was, engine: was / 2, says: "before the next backup"},
		"they are smaller":      {stored: was / 2, engine: was, says: "of its own size only"},
		"they contain the header of an encrypted volume": {stored: was + v1beta2.LUKSHeaderBytes, engine: was, encrypted: true,
			labels: map[string]string{"volume-encrypted": "enabled"}, asked: true},
		"an encrypted volume whose backups do not": {stored: was, engine: was, encrypted: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.FromBackup, s.Volume.Spec.Standby, s.Volume.Spec.DisableFrontend = "s3://t?backup=b-1&volume=old", true, true
			s.Volume.Spec.Encrypted = c.encrypted
			s.Volume.Status.RestoreInitiated, s.Volume.Status.RestoreRequired, s.Volume.Status.IsStandby = true, true, true
			s.Engines[0].Status.CurrentSize = c.engine
			s.BackupVolume = &v1beta2.BackupVolume{Status: v1beta2.BackupVolumeStatus{LastBackupName: "b-2", Labels: c.labels}}
			s.BackupVolume.Name = "old-1"
			if c.stored > 0 {
				s.BackupVolume.Status.Size = strconv.FormatInt(c.stored, 10)
			}
			v := Decide(s.World)
			var size any
			if w := findWrite(v, s.Volume); w != nil {
				size = w.Spec["size"]
			}
			require.Equal(t, c.size, size)
			w := findWrite(v, s.Engines[0])
			require.Equal(t, c.asked, w != nil && w.Spec["requestedBackupRestore"] == "b-2")
			require.Equal(t, c.asked, v.Fresh && v.FreshVolume, "an activated volume is not filled because the cache is behind")
			if c.says != "" {
				require.Contains(t, conditions.Get(v.Conditions, v1beta2.VolumeAttached).Message, c.says)
			}
		})
	}
}

// When a replica is added, the backup of the present replicas may be gone. The engine does not grow while it has a write-only replica.
func TestAnAddedReplicaThatIsNotFilledHoldsUpNoGrowth(t *testing.T) {
	s := restoring("x", "y")
	s.Volume.Spec.Standby, s.Volume.Status.IsStandby, s.Engines[0].Status.LastRestoredBackup = true, true, "b-1"
	s.Engines[0].Status.CurrentSize = s.Volume.Spec.Size
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"], s.Replicas[1].Spec.HealthyAt = v1beta2.ReplicaModeWO, ""
	s.BackupVolume = &v1beta2.BackupVolume{Status: v1beta2.BackupVolumeStatus{LastBackupName: "b-2",
		Size: strconv.FormatInt(2*s.Volume.Spec.Size, 10)}}
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1"})
	s.restores(1, v1beta2.RestoreStatus{})
	require.Nil(t, findWrite(Decide(s.World), s.Replicas[1]), "a restore may still fill it")
	s.restores(1, v1beta2.RestoreStatus{Error: "no such backup"})
	v := Decide(s.World)
	require.NotNil(t, findWrite(v, s.Volume), "it grows")
	require.NotEmpty(t, findWrite(v, s.Replicas[1]).Spec["failedAt"])
	require.Nil(t, findWrite(v, s.Replicas[0]))
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"], s.Replicas[1].Spec.HealthyAt = v1beta2.ReplicaModeRW, stamp(s.Now)
	require.Nil(t, findWrite(Decide(s.World), s.Replicas[1]), "one that is read has an earlier backup, and grows with the others")
}

// restoring is a volume that is attached to x without its frontend, and waits for backup b-1.
func restoring(nodes ...string) *fixture {
	s := attached(v1beta2.DataEngineV1, nodes...)
	s.Volume.Spec.FromBackup, s.Volume.Spec.DisableFrontend = "s3://t?backup=b-1&volume=old", true
	s.Volume.Status.RestoreInitiated, s.Volume.Status.RestoreRequired, s.Volume.Status.FrontendDisabled = true, true, true
	s.Engines[0].Spec.RequestedBackupRestore, s.Engines[0].Spec.BackupVolume = "b-1", "old"
	return s
}

// restores sets what the engine reports of a restore to one of the volume's replicas.
func (s *fixture) restores(replica int, status v1beta2.RestoreStatus) {
	e := s.Engines[0]
	if e.Status.RestoreStatus == nil {
		e.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{}
	}
	e.Status.RestoreStatus["tcp://"+e.Spec.ReplicaAddressMap[s.Replicas[replica].Name]] = status
}

func TestAReplicaThatFailsItsRestoreIsFailedWhenTheOthersHaveEnded(t *testing.T) {
	failed, done, busy := v1beta2.RestoreStatus{Error: "no space."}, v1beta2.RestoreStatus{LastRestored: "b-1"},
		v1beta2.RestoreStatus{IsRestoring: true}
	for name, c := range map[string]struct {
		first, second v1beta2.RestoreStatus
		fails         string
	}{
		"the others have it":              {done, failed, "vol-r-1"},
		"the first of them failed":        {failed, done, "vol-r-0"},
		"another one still restores":      {busy, failed, ""},
		"no replica failed":               {done, done, ""},
		"it failed with another backup":   {done, v1beta2.RestoreStatus{Error: "no", BackupURL: "s3://t?backup=b-0&volume=old"}, ""},
		"it failed with this very backup": {done, v1beta2.RestoreStatus{Error: "no", BackupURL: "s3://t?backup=b-1&volume=old"}, "vol-r-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := restoring("x", "y")
			s.restores(0, c.first)
			s.restores(1, c.second)
			v := Decide(s.World)
			require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, v.Status["robustness"])
			for _, r := range s.Replicas {
				w := findWrite(v, r)
				require.Equal(t, r.Name == c.fails, w != nil && w.Spec["failedAt"] != nil, r.Name)
				if r.Name == c.fails {
					require.Contains(t, w.Events[0].Note, "restoring backup b-1 to it failed: no")
					require.Contains(t, conditions.Get(v.Conditions, v1beta2.VolumeAttached).Message,
						"Another replica takes its place.")
				}
			}
		})
	}
}

func TestARestoreContinuesWithoutAReplicaThatFailed(t *testing.T) {
	s := restoring("x", "y")
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1"})
	s.restores(1, v1beta2.RestoreStatus{Error: "no space"})
	require.True(t, s.settle())
	require.NotEmpty(t, s.Replicas[1].Spec.FailedAt)
	require.NotContains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-1")
	s.Engines[0].Status.LastRestoredBackup = "b-1"
	require.Equal(t, false, Decide(s.World).Status["restoreRequired"])
}

func TestAVolumeWhoseRestoreFailedOnAllReplicasIsFaultedWithTheErrorAndTriedAgain(t *testing.T) {
	s := restoring("x", "y")
	s.restores(0, v1beta2.RestoreStatus{Error: "no such backup."})
	s.restores(1, v1beta2.RestoreStatus{Error: "no such backup"})
	s.step()
	const why = "Restoring backup b-1 failed on all replicas: no such backup."
	fault := func() string { return conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeFaulted).Message }
	require.Equal(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness)
	require.Equal(t, why, fault())
	require.Empty(t, Decide(s.World).Events, "it is reported once")
	for _, r := range s.Replicas {
		require.Empty(t, r.Spec.FailedAt)
	}
	s.Volume.Spec.NodeID = "" // as its tickets see to
	for range 12 {
		s.step()
		s.imMonitor()
	}
	require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State)
	require.Equal(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness)
	require.Contains(t, fault(), why+" The volume is attached again at ")
	s.Now = s.Now.Add(restorePause.First - time.Second)
	require.False(t, s.step())
	s.Now = s.Now.Add(time.Second)
	s.step()
	require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness)
}

// A10: the engine reports by address, in no order.
func TestTwoReplicasWithTwoErrorsGiveOneMessage(t *testing.T) {
	two := []v1beta2.RestoreStatus{{Error: "no such backup"}, {Error: "no space"}}
	for name, c := range map[string]struct {
		reports []v1beta2.RestoreStatus
		of      string
		want    string
	}{
		"all failed": {two, v1beta2.VolumeFaulted, "Restoring backup b-1 failed on all replicas: no such backup."},
		"a third one has the data": {append(two, v1beta2.RestoreStatus{LastRestored: "b-1"}), v1beta2.VolumeAttached,
			"The volume is attached to x. Restoring backup b-1 to replica vol-r-0 failed: no such backup. Another replica takes its " +
				"place."},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 { // the order of a map differs from run to run
				s := restoring([]string{"x", "y", "z"}[:len(c.reports)]...)
				for i, report := range c.reports {
					s.restores(i, report)
				}
				require.Equal(t, c.want, conditions.Get(Decide(s.World).Conditions, c.of).Message)
			}
		})
	}
}

// B3: the engine does not read from an added replica before that has the backup.
func TestAReplicaThatIsAddedToAStandbyVolumeDelaysNoActivation(t *testing.T) {
	s := restoring("x", "y")
	s.Volume.Status.IsStandby, s.Engines[0].Status.LastRestoredBackup = true, "b-1"
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1"})
	s.restores(1, v1beta2.RestoreStatus{IsRestoring: true})
	require.Equal(t, false, Decide(s.World).Status["restoreRequired"])
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1", IsRestoring: true})
	require.NotContains(t, Decide(s.World).Status, "restoreRequired", "one that is read")
}

// While an engine has a request, replicas that it gets are filled by a restore.
func TestTheRequestToRestoreEndsWithTheRestore(t *testing.T) {
	s := restoring("x")
	require.Nil(t, findWrite(Decide(s.World), s.Engines[0]))
	s.Volume.Status.RestoreRequired = false
	w := findWrite(Decide(s.World), s.Engines[0])
	require.Equal(t, map[string]any{"requestedBackupRestore": "", "backupVolume": ""}, w.Spec)
}

func TestTheRestoreErrorOfAnEarlierEngineRunFaultsNothing(t *testing.T) {
	s := restoring("x")
	s.restores(0, v1beta2.RestoreStatus{Error: "no such backup"})
	s.Engines[0].Status.ReplicaModeMap = nil // this run was not polled yet
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, Decide(s.World).Status["robustness"])
}

func TestAStandbyVolumeIsActivatedOnceItIsUsable(t *testing.T) {
	for name, c := range map[string]struct {
		is    func(*fixture)
		ended bool
		waits string
	}{
		"it has a usable replica": {func(*fixture) {}, true, ""},
		"one of them is enough":   {func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeERR }, true, ""},
		"its engine was not polled": {func(s *fixture) { s.Engines[0].Status.ReplicaModeMap = nil }, false,
			"is activated once its engine has a usable replica and purges no snapshots"},
		"its engine purges snapshots": {func(s *fixture) {
			s.Engines[0].Status.PurgeStatus = map[string]v1beta2.PurgeStatus{"tcp://a": {IsPurging: true}}
		}, false, "is activated once its engine has a usable replica and purges no snapshots"},
		"nobody activates it":              {func(s *fixture) { s.Volume.Spec.Standby = true }, false, ""},
		"its engine has an earlier backup": {func(s *fixture) { s.Engines[0].Status.LastRestoredBackup = "b-0" }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := restoring("x", "y")
			s.Volume.Status.IsStandby, s.Engines[0].Status.LastRestoredBackup = true, "b-1"
			s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1"})
			c.is(s)
			v := Decide(s.World)
			require.Equal(t, c.ended, v.Status["isStandby"] == false && v.Status["restoreRequired"] == false)
			require.Contains(t, waitsFor(v), c.waits)
			require.Equal(t, c.ended, slices.Contains(reasons(v), EventRestored))
		})
	}
}

func TestARestoreThatHasNotBegunIsReportedWithTheEnginesFailure(t *testing.T) {
	s := restoring("x")
	require.Contains(t, waitsFor(Decide(s.World)), "Engine vol-e-0 was asked to restore backup b-1 and has not begun.")
	s.Engines[0].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse,
		Message: "Restore: no route to host."}}
	require.Contains(t, waitsFor(Decide(s.World)), "has not begun. Restore: no route to host.")
	s.restores(0, v1beta2.RestoreStatus{})
	require.Contains(t, waitsFor(Decide(s.World)), "has not begun. Restore: no route to host.", "v1 lists replicas that restored nothing")
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-0", State: "complete"})
	require.Contains(t, waitsFor(Decide(s.World)), "has not begun. Restore: no route to host.", "it has an earlier backup")
	s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1", State: "complete"})
	require.NotContains(t, waitsFor(Decide(s.World)), "has not begun", "the engine has not reported the end yet")
	s.restores(0, v1beta2.RestoreStatus{IsRestoring: true})
	require.NotContains(t, waitsFor(Decide(s.World)), "has not begun")
}

// A standby volume never goes back to an earlier backup: a BackupVolume that is missing or lost its newest backup is no wish for the first.
func TestAStandbyVolumeNeverGoesBackToAnEarlierBackup(t *testing.T) {
	const earlier, recorded, later = "2026-08-01T10:00:00Z", "2026-08-01T11:00:00+00:00", "2026-08-01T12:00:00Z"
	listed := func(name, at string) *v1beta2.BackupVolume {
		b := &v1beta2.BackupVolume{Status: v1beta2.BackupVolumeStatus{LastBackupName: name, LastBackupAt: at}}
		b.Name = "backup-volume"
		return b
	}
	for name, c := range map[string]struct {
		found *v1beta2.BackupVolume
		want  string
	}{
		"the BackupVolume is missing":             {nil, "b-5"},
		"it lists no backup":                      {listed("", ""), "b-5"},
		"its newest backup is an earlier one":     {listed("b-4", earlier), "b-5"},
		"its newest backup is the recorded one":   {listed("b-5", recorded), "b-5"},
		"its newest backup is of the same second": {listed("b-6", "2026-08-01T11:00:00Z"), "b-6"},
		"its newest backup is a later one":        {listed("b-6", later), "b-6"},
		"the time of its newest backup is unread": {listed("b-6", "then"), "b-6"},
	} {
		t.Run(name, func(t *testing.T) {
			s := restoring("x")
			s.Volume.Status.IsStandby, s.Volume.Spec.Standby = true, true
			s.Volume.Status.LastBackup, s.Volume.Status.LastBackupAt = "b-5", recorded
			s.Engines[0].Spec.RequestedBackupRestore, s.Engines[0].Spec.BackupVolume = "b-5", "backup-volume"
			s.Engines[0].Status.LastRestoredBackup = "b-5"
			s.BackupVolume = c.found
			v := Decide(s.World)
			for _, write := range v.Writes {
				if write.Object == s.Engines[0] {
					require.Contains(t, []any{nil, c.want}, write.Spec["requestedBackupRestore"])
					require.Contains(t, []any{nil, "backup-volume"}, write.Spec["backupVolume"])
				}
			}
			if c.want != "b-5" {
				require.Equal(t, c.want, v.Status["lastBackup"])
				return
			}
			require.NotContains(t, v.Status, "lastBackup")

			s.Volume.Spec.Standby = false
			s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-5"})
			v = Decide(s.World)
			require.Equal(t, false, v.Status["isStandby"])
			require.Contains(t, v.Events[0].Note, "The volume was restored from backup b-5 of "+recorded)
		})
	}
}

// A size that cannot be read must not keep a standby volume from its backups.
func TestABackupWhoseSizeIsUnreadableIsRestored(t *testing.T) {
	s := restoring("x")
	s.Volume.Status.IsStandby, s.Volume.Spec.Standby = true, true
	s.BackupVolume = &v1beta2.BackupVolume{Status: v1beta2.BackupVolumeStatus{LastBackupName: "b-2", LastBackupAt: "then", Size: "1Gi"}}
	v := Decide(s.World)
	require.Equal(t, "b-2", writeOf(t, v, s.Engines[0]).Spec["requestedBackupRestore"])
	require.Equal(t, "b-2", v.Status["lastBackup"])
	require.Equal(t, "then", v.Status["lastBackupAt"])
}

// The long pause is for a backup that no replica can be filled with.
func TestTheLongPauseFollowsOnlyARestoreThatFailedOnAllReplicas(t *testing.T) {
	for name, c := range map[string]struct {
		is    func(*fixture)
		pause time.Duration
	}{
		"all of them failed":      {func(*fixture) {}, restorePause.First},
		"one of them has it":      {func(s *fixture) { s.restores(0, v1beta2.RestoreStatus{LastRestored: "b-1"}) }, faultPause.First},
		"none is in the engine":   {func(s *fixture) { s.Engines[0].Spec.ReplicaAddressMap = nil }, faultPause.First},
		"it was another backup":   {func(s *fixture) { s.Engines[0].Spec.RequestedBackupRestore = "b-9" }, faultPause.First},
		"nothing was requested":   {func(s *fixture) { s.Engines[0].Spec.RequestedBackupRestore = "" }, faultPause.First},
		"nothing is restored now": {func(s *fixture) { s.Volume.Status.RestoreRequired = false }, faultPause.First},
		"the engine is gone":      {func(s *fixture) { s.Engines = nil }, faultPause.First},
	} {
		t.Run(name, func(t *testing.T) {
			s := restoring("x", "y")
			for i, r := range s.Replicas {
				s.restores(i, v1beta2.RestoreStatus{Error: "no such backup", BackupURL: "s3://t?backup=b-1&volume=old"})
				r.Spec.DesireState, r.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
			}
			stop(s.Engines[0])
			s.Volume.Spec.NodeID, s.Volume.Status.CurrentNodeID, s.Volume.Status.State = "", "", v1beta2.VolumeStateDetached
			s.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted
			s.Volume.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeFaulted, Status: v1beta2.ConditionTrue,
				LastTransitionTime: stamp(s.Now)}}
			c.is(s)
			require.Equal(t, s.Now.Add(c.pause), Decide(s.World).RequeueAt)
		})
	}
}

func TestARestoreWaitsForItsEngine(t *testing.T) {
	s := restoring("x")
	e := s.Engines[0]
	s.Engines = nil
	v := Decide(s.World)
	require.Equal(t, []string{"vol-e-0"}, created(v))
	require.NotContains(t, v.Status, "restoreRequired")
	s.Engines = []*v1beta2.Engine{e}
	e.Spec.RequestedBackupRestore = ""
	require.Equal(t, "b-1", writeOf(t, Decide(s.World), e).Spec["requestedBackupRestore"])
}
