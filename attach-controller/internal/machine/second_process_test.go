package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// K1: a v1 replica process serves one engine.
func TestTheSecondEngineOfAV1VolumeHasReplicaProcessesOfItsOwn(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	first, second := s.Engines[0], s.Engines[1]
	require.False(t, second.Spec.Active)
	require.Equal(t, []string{"vol-r-0", "vol-r-1"}, slices.Sorted(maps.Keys(first.Spec.ReplicaAddressMap)))
	require.Len(t, second.Spec.ReplicaAddressMap, 2)
	require.Len(t, s.Replicas, 4)
	for _, r := range s.Replicas[2:] {
		require.Contains(t, second.Spec.ReplicaAddressMap, r.Name)
		require.False(t, r.Spec.Active)
		require.Equal(t, second.Name, r.Spec.EngineName)
		require.Empty(t, r.Spec.HealthyAt+r.Spec.FailedAt+r.Spec.LastHealthyAt+r.Spec.LastFailedAt)
		require.Equal(t, v1beta2.InstanceStateRunning, r.Status.CurrentState)
		require.Equal(t, v1beta2.ReplicaModeRW, second.Status.ReplicaModeMap[r.Name])
		require.True(t, slices.ContainsFunc(s.Replicas[:2], func(o *v1beta2.Replica) bool { return v1beta2.HasSameDirectory(o, r) }))
	}
	require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
}

// checked reports what must hold at every moment of a v1 migration; empty if it does.
func (s *fixture) checked() string {
	for _, r := range s.Replicas {
		active, directory := 0, 0
		for _, o := range s.Replicas {
			if v1beta2.HasSameDirectory(o, r) {
				directory++
				if o.Spec.Active {
					active++
				}
			}
		}
		if active == 0 {
			return "the directory of " + r.Name + " has no active Replica"
		}
		first := s.engineOn("x")
		if active == 2 && first != nil && first.Status.CurrentState != v1beta2.InstanceStateStopped {
			return "the directory of " + r.Name + " is handed over before the first engine stopped"
		}
		if directory > 2 {
			return "three processes over the directory of " + r.Name
		}
	}
	for _, e := range s.Engines {
		for _, o := range s.Engines {
			for name := range o.Spec.ReplicaAddressMap {
				if _, both := e.Spec.ReplicaAddressMap[name]; both && o != e && ofEngine(o).wanted && ofEngine(e).wanted {
					return "both engines have " + name
				}
			}
		}
	}
	return ""
}

// cutStep decides once and applies only the first writes of the verdict, as a process does that dies; it reports whether all were applied.
func (s *fixture) cutStep(writes int) (whole bool) {
	verdict := Decide(s.World)
	for i, w := range verdict.Writes {
		if i == writes {
			return false
		}
		s.write(w)
	}
	if len(verdict.Writes) >= writes && writes >= 0 {
		return false
	}
	for key, value := range verdict.Status {
		s.status(key, value)
	}
	s.Volume.Status.Conditions = verdict.Conditions
	return true
}

// Wherever a pass is cut, the hand-over and the roll back end as without a cut, and no moment between is wrong.
func TestAV1MigrationThatIsCutAnywhereEnds(t *testing.T) {
	for name, one := range map[string]struct{ wanted, target, engine string }{
		"confirmed": {"y", "", "vol-e-1"}, "rolled back": {"x", "", "vol-e-0"},
	} {
		t.Run(name, func(t *testing.T) {
			cuts := 0
			for pass := range 12 {
				for writes := range 5 {
					s := moving(t, v1beta2.DataEngineV1)
					s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = one.wanted, one.target
					for range pass {
						s.step()
						s.imMonitor()
						require.Empty(t, s.checked(), "%s", s)
					}
					if !s.cutStep(writes) {
						cuts++
					}
					require.Empty(t, s.checked(), "pass %d, cut after %d writes:\n%s", pass, writes, s)
					for range 40 {
						s.step()
						s.imMonitor()
						s.Now = s.Now.Add(time.Second)
						require.Empty(t, s.checked(), "pass %d, cut after %d writes:\n%s", pass, writes, s)
					}
					require.Equal(t, one.wanted, s.Volume.Status.CurrentNodeID, "%s", s)
					require.Empty(t, s.Volume.Status.CurrentMigrationNodeID)
					require.Len(t, s.Engines, 1, "%s", s)
					require.Equal(t, one.engine, s.Engines[0].Name)
					require.Len(t, s.Replicas, 2, "%s", s)
					for _, r := range s.Replicas {
						require.True(t, r.Spec.Active && r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" && r.Spec.EngineName == one.engine, "%s", s)
					}
					require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
				}
			}
			require.Greater(t, cuts, 5)
		})
	}
}

// What the second engine lacks is marked before its processes become the volume's, and stays a replica of the volume.
func TestTheVolumeMovesWithoutTheReplicasThatTheSecondEngineLacks(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"dropped by the second": func(s *fixture) {
			s.Engines[1].Status.ReplicaModeMap[s.Replicas[3].Name] = v1beta2.ReplicaModeERR
		},
		"dropped by both": func(s *fixture) {
			s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
			s.Engines[1].Status.ReplicaModeMap[s.Replicas[3].Name] = v1beta2.ReplicaModeERR
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := moving(t, v1beta2.DataEngineV1)
			lost := s.Replicas[1]
			require.True(t, v1beta2.HasSameDirectory(lost, s.Replicas[3]), "%s", s)
			happens(s)
			s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
			for passes := 0; s.Volume.Status.CurrentNodeID != "y"; passes++ {
				require.Less(t, passes, 40, "it never moves:\n%s", s)
				require.False(t, s.Replicas[2].Spec.Active && lost.Spec.FailedAt == "",
					"the data of the new side counts before the replica that lacks it is marked:\n%s", s)
				s.step()
				s.imMonitor()
			}
			require.NotEmpty(t, lost.Spec.FailedAt, "it is marked before the volume moves")
			require.True(t, s.settle(), "%s", s)
			require.Equal(t, "y", s.Volume.Status.CurrentNodeID)
			require.True(t, lost.Spec.Active)
			require.Len(t, s.Replicas, 2, "%s", s)
			require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 1)
			require.Equal(t, v1beta2.VolumeRobustnessDegraded, s.Volume.Status.Robustness)
		})
	}
}

// What the second engine dropped is known by the directory, also if the volume is detached before it was handed over.
func TestWhatTheSecondEngineDroppedCountsWhenTheVolumeIsDetached(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	s.Engines[1].Status.ReplicaModeMap[s.Replicas[3].Name] = v1beta2.ReplicaModeERR
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "", ""
	require.True(t, s.settle(), "%s", s)
	require.Empty(t, s.Replicas[0].Spec.FailedAt)
	require.NotEmpty(t, s.Replicas[1].Spec.FailedAt)
	require.Len(t, s.Replicas, 2)
}

// A second engine that lost all its own processes never served: that marks no replica, and asks for no salvage.
func TestASecondEngineThatLostAllItsProcessesMarksNothing(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	for _, r := range s.Replicas[2:] {
		s.Engines[1].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
	}
	s.Engines[1].Status.CurrentState = v1beta2.InstanceStateError
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "", ""
	require.True(t, s.settle(), "%s", s)
	for _, r := range s.Replicas {
		require.Empty(t, r.Spec.LastFailedAt)
		require.False(t, r.Spec.SalvageRequested)
	}
}

func TestAVolumeIsNotHandedOverToAnEngineThatReportedNothing(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	modes := s.Engines[1].Status.ReplicaModeMap
	s.Engines[1].Status.ReplicaModeMap = nil
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	verdict := Decide(s.World)
	require.Empty(t, verdict.Writes, "unknown is not RW: nothing stops")
	require.Contains(t, verdict.Conditions[0].Message, "has not reported its replica")
	s.Engines[1].Status.ReplicaModeMap = modes
	require.True(t, s.settle())
	require.Equal(t, "y", s.Volume.Status.CurrentNodeID)
}

// B13 and what the contract refuses: no second engine is created, with the reason, and it is created once that has ended.
func TestNoMigrationBeginsBesideWhatChangesTheChain(t *testing.T) {
	for name, c := range map[string]struct {
		happens, ends func(*fixture)
		why           string
	}{
		"a rebuild": {func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO },
			func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeRW }, "vol-r-1 is being rebuilt"},
		"a rebuild of a replica that no object names": {
			func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["UNKNOWN-tcp://a:1"] = v1beta2.ReplicaModeWO },
			func(s *fixture) { delete(s.Engines[0].Status.ReplicaModeMap, "UNKNOWN-tcp://a:1") }, "is being rebuilt"},
		"a replica without a mode": {func(s *fixture) { delete(s.Engines[0].Status.ReplicaModeMap, "vol-r-1") },
			func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeRW }, "has not reported replica vol-r-1"},
		"an expansion": {func(s *fixture) { s.Engines[0].Status.IsExpanding = true },
			func(s *fixture) { s.Engines[0].Status.IsExpanding = false }, "is being expanded"},
		"an expansion that has not begun": {func(s *fixture) { s.Engines[0].Spec.VolumeSize++ },
			func(s *fixture) { s.Engines[0].Status.CurrentSize++ }, "is being expanded"},
		"a purge": {func(s *fixture) {
			s.Engines[0].Status.PurgeStatus = map[string]v1beta2.PurgeStatus{"a": {IsPurging: true}}
		},
			func(s *fixture) { s.Engines[0].Status.PurgeStatus = nil }, "are being purged"},
		"a revert": {func(s *fixture) { s.Engines[0].Spec.RequestedRevert = "s@t" },
			func(s *fixture) { s.Engines[0].Status.LastRevert = "s@t" }, "is being reverted"},
		"a restore": {func(s *fixture) { s.Engines[0].Spec.RequestedBackupRestore = "b" },
			func(s *fixture) { s.Engines[0].Status.LastRestoredBackup = "b" }, "is being filled"},
		"another image": {func(s *fixture) { s.Engines[0].Spec.UpgradedReplicaAddressMap = map[string]string{"r": "a"} },
			func(s *fixture) { s.Engines[0].Spec.UpgradedReplicaAddressMap = nil }, "image is being changed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked(v1beta2.DataEngineV1)
			c.happens(s)
			verdict := Decide(s.World)
			require.Empty(t, slices.DeleteFunc(verdict.Writes, func(w Write) bool { return w.Spec["requestedRevert"] == "" }))
			require.Contains(t, verdict.Conditions[0].Message, c.why)
			c.ends(s)
			require.NotContains(t, Decide(s.World).Conditions[0].Message, c.why)
		})
	}
}

// A second engine that fails is reported, ended and tried again with growing pauses, and the first one never notices.
func TestASecondEngineThatFailsIsTriedAgainWithGrowingPauses(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	first := *s.Engines[0]
	var pauses []time.Duration
	for range 8 {
		s.Engines[1].Status.CurrentState = v1beta2.InstanceStateError
		s.Engines[1].Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceCreation, Status: v1beta2.ConditionFalse,
			Message: "exit status 61"}}
		failedAt, reported := s.Now, false
		verdict := Decide(s.World)
		require.Empty(t, verdict.Writes, "the failure is stored before its evidence is destroyed")
		require.Contains(t, verdict.Conditions[0].Message, "exit status 61.")
		require.Equal(t, EventMigrationFailed, verdict.Events[0].Reason)
		for len(s.Engines) < 2 || s.Engines[1].Status.CurrentState != v1beta2.InstanceStateRunning || s.Volume.Status.MigrationFailure == nil {
			s.step()
			s.imMonitor()
			s.Now = s.Now.Add(time.Second)
			require.Empty(t, s.checked())
			require.Less(t, s.Now.Sub(failedAt), 10*time.Minute, "%s", s)
			require.Equal(t, "x", s.Volume.Status.CurrentNodeID)
			reported = reported || strings.Contains(s.Volume.Status.Conditions[0].Message, "exit status 61. The migration is tried again at")
		}
		require.True(t, reported)
		pauses = append(pauses, s.Now.Sub(failedAt).Round(10*time.Second))
	}
	require.Equal(t, 8, s.Volume.Status.MigrationFailure.Count)
	for i := 1; i < 5; i++ {
		require.Greater(t, pauses[i], pauses[i-1], "%v", pauses)
	}
	require.Equal(t, 5*time.Minute, pauses[7].Truncate(time.Minute), "%v", pauses)
	require.Equal(t, first.Status.UUID, s.Engines[0].Status.UUID)
	for _, r := range s.Replicas[:2] {
		require.Empty(t, r.Spec.LastFailedAt)
	}
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	require.True(t, s.settle())
	require.Nil(t, s.Volume.Status.MigrationFailure, "it ends with the migration")
}

// Every phase that waits has an end.
func TestWhatOfTheSecondSideDoesNotStartIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*fixture)
		why     string
	}{
		"a process fails": {func(s *fixture) { s.Replicas[2].Status.CurrentState = v1beta2.InstanceStateError }, "over the data of a replica"},
		"a process does not start in time": {func(s *fixture) {
			s.Replicas[2].Status.CurrentState = v1beta2.InstanceStateStarting
			s.Now = s.Now.Add(migrationTimeout)
		}, "did not run within 5m0s"},
		"the engine does not start in time": {func(s *fixture) {
			s.imMonitor()
			s.Engines[1].Spec.DesireState, s.Engines[1].Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateStarting
			s.Now = s.Now.Add(migrationTimeout)
		}, "is starting"},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked(v1beta2.DataEngineV1)
			for len(s.Replicas) < 4 {
				s.step()
			}
			s.Engines[1].CreationTimestamp.Time = s.Now
			c.happens(s)
			verdict := Decide(s.World)
			failure := verdict.Status["migrationFailure"].(*v1beta2.MigrationFailure)
			require.Contains(t, failure.Message, c.why)
			require.Equal(t, string(s.Engines[1].UID), failure.EngineUID)
		})
	}
}

// The volume's machine looks again when the time is over.
func TestTheEndOfAPauseIsAwaited(t *testing.T) {
	s := asked(v1beta2.DataEngineV1)
	s.Volume.Status.MigrationFailure = &v1beta2.MigrationFailure{NextAttemptAt: stamp(s.Now.Add(20 * time.Second)), Count: 2,
		EngineUID: "gone", NodeID: "y", Message: "It failed."}
	verdict := Decide(s.World)
	require.Empty(t, verdict.Writes)
	require.Equal(t, s.Now.Add(20*time.Second), verdict.RequeueAt)
	s.Volume.Status.MigrationFailure.NodeID = "z"
	require.NotEmpty(t, Decide(s.World).Writes, "the failure of a migration to another node does not count")
}

// A node that was down when the volume moved has a process of the former engine when it returns.
func TestACopyIsNotRebuiltBesideAnotherProcessOverItsDirectory(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	r := s.Replicas[1]
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
	require.True(t, s.settle())
	require.NotEmpty(t, r.Spec.FailedAt)
	left := *r
	left.Name, left.UID, left.Spec.Active, left.Status.CurrentState = "vol-r-left", "left", false, v1beta2.InstanceStateUnknown
	s.Replicas = append(s.Replicas, &left)
	r.Spec.FailedAt, r.Spec.HealthyAt = "", ""
	untouched(t, Decide(s.World), r)
	left.Status.CurrentState = v1beta2.InstanceStateStopped
	require.Equal(t, v1beta2.InstanceStateRunning, writeOf(t, Decide(s.World), r).Spec["desireState"])
}

// While both engines run, no decision changes what only one of them would notice.
func TestNothingChangesTheChainWhileBothEnginesRun(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	s.Volume.Spec.Size, s.Volume.Status.AcceptedSize = 2<<30, 2<<30
	s.Volume.Spec.RevertToSnapshot, s.Volume.Spec.RevertRequestedAt = "s", "2026-01-01T00:00:00Z"
	extra := newFixture(v1beta2.DataEngineV1, "z").Replicas[0]
	extra.Name, extra.UID, extra.Spec.DataDirectoryName = "vol-r-9", "vol-r-9", "dir-9"
	s.Replicas = append(s.Replicas, extra)
	going := s.Replicas[1]
	deleted(going)
	for range 5 {
		for _, w := range Decide(s.World).Writes {
			for _, key := range []string{"replicaAddressMap", "volumeSize", "requestedRevert"} {
				require.NotContains(t, w.Spec, key, fmt.Sprint(w))
			}
		}
		s.step()
		s.imMonitor()
	}
	require.Len(t, s.Engines, 2)
}

// A snapshot that was under way when the second processes opened the chain is in the first engine alone.
func TestASecondEngineWithoutASnapshotOfTheFirstIsReplaced(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	first, second := s.Engines[0], s.Engines[1]
	first.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {}, "s": {}}
	require.Empty(t, Decide(s.World).Writes, "it has reported nothing yet")
	second.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {}}
	require.Equal(t, v1beta2.InstanceStateStopped, writeOf(t, Decide(s.World), second).Spec["desireState"])
	second.Status.Snapshots["s"], second.Status.Snapshots["more"] = v1beta2.SnapshotInfo{}, v1beta2.SnapshotInfo{}
	require.Empty(t, Decide(s.World).Writes, "the first one's poll is older")
}

// Nothing takes over that serves nothing.
func TestAVolumeIsNotHandedOverToAnEngineThatLostAllItsProcesses(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	for _, r := range s.Replicas[2:] {
		s.Engines[1].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
	}
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	verdict := Decide(s.World)
	require.Equal(t, v1beta2.VolumeStateDetaching, verdict.Status["state"])
	for _, r := range s.Replicas[2:] {
		untouched(t, verdict, r)
	}
}

// A second process on a node that is down may outlive its engine: the next engine gets another name.
func TestTheProcessOfAnEarlierMigrationIsNotTakenForAnother(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV1)
	left := s.Replicas[3]
	s.Nodes["y"] = Node{Known: true, Down: true}
	s.Volume.Spec.MigrationNodeID = ""
	for range 10 {
		s.step()
		s.imMonitor()
		left.Status.CurrentState = v1beta2.InstanceStateUnknown
	}
	s.Engines = slices.DeleteFunc(s.Engines, func(e *v1beta2.Engine) bool { return e.Name == "vol-e-1" })
	s.Volume.Spec.MigrationNodeID, s.Volume.Status.CurrentMigrationNodeID = "z", "z"
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
	for range 6 {
		s.step()
		s.imMonitor()
		left.Status.CurrentState = v1beta2.InstanceStateUnknown
		s.Engines[0].Status.LookedAt = s.Engines[0].Spec.LookRequestedAt
	}
	require.NotNil(t, s.engineOn("z"), "%s", s)
	require.Equal(t, "vol-e-2", s.engineOn("z").Name, "%s", s)
}

// A rebuild that ends after the migration was requested is recorded before the second engine is created: else the volume, moving without
// its other replica, would count as having none.
func TestARebuildThatEndsBeforeAMigrationBeginsIsRecorded(t *testing.T) {
	s := asked(v1beta2.DataEngineV1)
	r := s.Replicas[1]
	r.Spec.HealthyAt = ""
	s.Engines[0].Spec.LookRequestedAt, s.Engines[0].Status.LookedAt = stamp(s.Now), stamp(s.Now)
	verdict := Decide(s.World)
	require.Equal(t, stamp(s.Now), writeOf(t, verdict, r).Spec["healthyAt"])
	require.Len(t, verdict.Writes, 1)
	require.True(t, s.settle())
	s.Engines[1].Status.ReplicaModeMap[s.Replicas[2].Name] = v1beta2.ReplicaModeERR
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	require.True(t, s.settle(), "%s", s)
	require.Equal(t, "y", s.Volume.Status.CurrentNodeID)
	require.Empty(t, s.Volume.Status.RemountRequestedAt, "it was never faulted")
}
