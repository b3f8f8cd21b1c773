package machine

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// moved is a volume on x with its target on y.
func moved(t require.TestingT, replicas ...string) *fixture {
	s := attached(v1beta2.DataEngineV2, replicas...)
	s.Volume.Spec.TargetNodeID = "y"
	require.True(t, s.settle(), "%s", s)
	require.Equal(t, "y", s.Volume.Status.CurrentTargetNodeID, "%s", s)
	return s
}

// hasWay is UPG-3: the frontend leads to an engine that exists and must run.
func hasWay(s *fixture) bool {
	return len(s.Frontends) == 1 && slices.ContainsFunc(s.Engines, func(e *v1beta2.Engine) bool {
		return leadsTo(s.Frontends[0], e) && ofEngine(e).wanted
	})
}

// watched settles, and checks at each step that the volume stays attached at x and has an I/O target.
func watched(t require.TestingT, s *fixture) {
	for range 60 {
		changed := s.step()
		changed = s.imMonitor() || changed
		s.Now = s.Now.Add(time.Second)
		require.Equal(t, "x", s.Volume.Status.CurrentNodeID, "%s", s)
		require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State, "%s", s)
		require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness, "%s", s)
		require.True(t, hasWay(s), "%s", s)
		if !changed {
			return
		}
	}
	require.Fail(t, "it does not settle", "%s", s)
}

// oneEngine is how every move ends.
func oneEngine(t require.TestingT, s *fixture, name, node string) {
	require.Len(t, s.Engines, 1, "%s", s)
	e := s.Engines[0]
	require.Equal(t, name, e.Name)
	require.Equal(t, node, e.Spec.NodeID)
	require.True(t, e.Spec.Active)
	require.Equal(t, name, s.Frontends[0].Spec.EngineName)
	require.Equal(t, "x", s.Frontends[0].Spec.NodeID)
	target := node
	if node == "x" {
		target = ""
	}
	require.Equal(t, target, s.Volume.Status.CurrentTargetNodeID)
}

func TestATargetMovesThereAndBackUnderAnAttachedVolume(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y", "z")
	s.Volume.Spec.TargetNodeID = "y"
	watched(t, s)
	oneEngine(t, s, "vol-e-1", "y")
	require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 3)
	s.Volume.Spec.TargetNodeID = "z"
	watched(t, s)
	oneEngine(t, s, "vol-e-2", "z")
	for _, home := range []string{"x", ""} {
		s := moved(t, "x", "y", "z")
		s.Volume.Spec.TargetNodeID = home
		watched(t, s)
		oneEngine(t, s, "vol-e-2", "x")
		require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
		for _, r := range s.Replicas {
			require.Equal(t, "vol-e-2", r.Spec.EngineName)
			require.Empty(t, r.Spec.FailedAt)
		}
		require.False(t, s.step(), "what settled is left alone")
	}
}

func TestAVolumeDetachesWhereverItsTargetIs(t *testing.T) {
	for steps := range 14 {
		s := attached(v1beta2.DataEngineV2, "x", "y", "z")
		s.Volume.Spec.TargetNodeID = "y"
		for range steps {
			s.step()
			s.imMonitor()
		}
		s.Volume.Spec.NodeID = ""
		require.True(t, s.settle(), "after %d steps:\n%s", steps, s)
		require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State)
		require.Empty(t, s.Volume.Status.CurrentTargetNodeID)
		require.Len(t, s.Engines, 1)
		for _, r := range s.Replicas {
			require.Empty(t, r.Spec.FailedAt)
			require.NotEmpty(t, r.Spec.HealthyAt)
		}
	}
}

// The frontend goes first: it may lead to either engine.
func TestNoEngineStopsBeforeTheFrontendWhenAVolumeIsDetachedInTheMiddleOfAMove(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "y")
	s.Volume.Spec.TargetNodeID = "y"
	for len(s.Engines) < 2 {
		s.step()
		s.imMonitor()
	}
	s.Volume.Spec.NodeID = ""
	s.step()
	s.step()
	require.Equal(t, v1beta2.InstanceStateStopped, s.Frontends[0].Spec.DesireState)
	for _, e := range s.Engines {
		require.Equal(t, v1beta2.InstanceStateRunning, e.Spec.DesireState)
	}
}

// secondIs advances a move until the second engine runs and the frontend is not yet ordered to switch.
func secondIs(t *testing.T) *fixture {
	t.Helper()
	s := attached(v1beta2.DataEngineV2, "x", "y", "z")
	s.Volume.Spec.TargetNodeID = "y"
	for len(s.Engines) < 2 {
		s.step()
		s.imMonitor()
	}
	s.imMonitor()
	require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Status.CurrentState)
	return s
}

// switching is secondIs once the frontend is ordered to switch to the second engine.
func switching(t *testing.T) *fixture {
	t.Helper()
	s := secondIs(t)
	s.step()
	require.Equal(t, "vol-e-1", s.Frontends[0].Spec.EngineName)
	require.Equal(t, "vol-e-1", s.Engines[1].Name)
	return s
}

func TestWhatStandsAgainstAMove(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"the wanted node is down":           func(s *fixture) { s.Nodes["y"] = Node{Known: true, Down: true} },
		"the wanted node is being upgraded": func(s *fixture) { s.Nodes["y"] = Node{Known: true, Upgrading: true} },
		"a replica is being rebuilt":        func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO },
		"the engine grows":                  func(s *fixture) { s.Engines[0].Status.IsExpanding = true },
		"the frontend's target is unknown":  func(s *fixture) { s.Frontends[0].Status.TargetIP = "" },
		"the frontend's state is unknown":   func(s *fixture) { s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateUnknown },
		"the engine's state is unknown":     func(s *fixture) { s.Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown },
		"a replica's node is down":          func(s *fixture) { s.Nodes["z"] = Node{Known: true, Down: true} },
		"the volume waits for its backup":   func(s *fixture) { s.Volume.Status.RestoreRequired = true },
		"the volume is cloned":              func(s *fixture) { s.Volume.Status.CloneStatus.State = v1beta2.CloneInitiated },
		"the engine lacks its size":         func(s *fixture) { s.Engines[0].Spec.VolumeSize = 1 << 20 },
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV2, "x", "y", "z")
			s.Volume.Spec.TargetNodeID = "y"
			happens(s)
			for range 5 {
				for _, w := range Decide(s.World).Writes {
					require.NotEqual(t, Create, w.Kind)
					require.NotEqual(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
				}
				s.step()
			}
			require.Empty(t, s.Volume.Status.CurrentTargetNodeID)
		})
	}
}

// UPG-3: a failed new engine never becomes the target.
func TestASecondEngineThatIsNotFitIsReplaced(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"it failed": func(s *fixture) { s.Engines[1].Status.CurrentState = v1beta2.InstanceStateError },
		"it cannot reach a replica": func(s *fixture) {
			s.Engines[1].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeERR
		},
		"the first one dropped a replica since": func(s *fixture) {
			s.Engines[0].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeERR
		},
		"it is being deleted": func(s *fixture) { deleted(s.Engines[1]) },
	} {
		t.Run(name, func(t *testing.T) {
			s := secondIs(t)
			happens(s)
			s.step()
			require.Equal(t, "vol-e-0", s.Frontends[0].Spec.EngineName, "%s", s)
			watched(t, s)
			require.NotEqual(t, "vol-e-0", s.Engines[0].Name, "it moved all the same, to another one")
			require.Equal(t, "y", s.Engines[0].Spec.NodeID)
		})
	}
	t.Run("but not before it had a moment", func(t *testing.T) {
		s := secondIs(t)
		s.Engines[1].CreationTimestamp.Time = s.Now
		s.Engines[1].Status.CurrentState = v1beta2.InstanceStateError
		verdict := Decide(s.World)
		require.Empty(t, verdict.Writes)
		require.Equal(t, s.Now.Add(retryTarget), verdict.RequeueAt)
	})
}

func TestTheFrontendSwitchesOnlyAfterAFreshPollOfTheFirstEngine(t *testing.T) {
	s := secondIs(t)
	s.Engines[0].Spec.LookRequestedAt, s.Engines[0].Status.LookedAt = "", ""
	verdict := Decide(s.World)
	require.Nil(t, findWrite(verdict, s.Frontends[0]))
	require.NotNil(t, writeOf(t, verdict, s.Engines[0]).Spec["lookRequestedAt"])
}

// UPG-3: where the frontend leads to is read uncached before an engine ends because of it.
func TestAnEngineEndsOnlyAfterAFreshReadOfItsFrontend(t *testing.T) {
	s := secondIs(t)
	for s.Engines[0].Spec.DesireState == v1beta2.InstanceStateRunning {
		verdict := Decide(s.World)
		if one := findWrite(verdict, s.Engines[0]); one != nil && one.Spec["desireState"] == v1beta2.InstanceStateStopped {
			require.True(t, verdict.Fresh && verdict.FreshFrontends)
		}
		if one := findWrite(verdict, s.Frontends[0]); one != nil {
			require.True(t, verdict.Fresh && verdict.FreshFrontends)
		}
		s.step()
		s.imMonitor()
	}
}

// UPG-1: who reads through the second engine finds what every replica has.
func TestTheFrontendSwitchesToNoEngineThatLacksAReplica(t *testing.T) {
	s := secondIs(t)
	s.Engines[1].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeWO
	s.step()
	require.Equal(t, "vol-e-0", s.Frontends[0].Spec.EngineName)
}

// UPG-3.
func TestNoEngineEndsWhileTheFrontendIsOnItsWay(t *testing.T) {
	s := switching(t)
	f, second := s.Frontends[0], s.Engines[1]
	f.Status.TargetIP, f.Status.TargetPort, f.Status.SwitchoverPhase = second.Status.StorageIP, second.Status.Port, "switching"
	for _, w := range Decide(s.World).Writes {
		require.NotEqual(t, v1beta2.InstanceStateStopped, w.Spec["desireState"])
	}
}

// Turning back and forth would never end.
func TestAFrontendThatIsAboutToArriveArrives(t *testing.T) {
	s := switching(t)
	s.Volume.Spec.TargetNodeID = "z"
	s.step()
	require.Equal(t, "vol-e-1", s.Frontends[0].Spec.EngineName)
	watched(t, s)
	require.Equal(t, "z", s.Volume.Status.CurrentTargetNodeID)
}

// Whether the node has a replica or not.
func TestATargetIsNotSentToANodeThatIsDown(t *testing.T) {
	s := attached(v1beta2.DataEngineV2, "x", "z")
	s.Volume.Spec.TargetNodeID, s.Nodes["y"] = "y", Node{Known: true, Down: true}
	for range 5 {
		for _, w := range Decide(s.World).Writes {
			require.NotEqual(t, Create, w.Kind)
		}
		s.step()
		s.imMonitor()
	}
}

// UPG-1: what the first target acknowledges meanwhile the second one lacks.
func TestAFrontendThatLostItsSuspensionOnTheWaySwitchesBack(t *testing.T) {
	s := switching(t)
	f := s.Frontends[0]
	f.Spec.SuspendRequestedAt = s.Now.UTC().Format(time.RFC3339Nano)
	f.Status.SuspendedAt, f.Status.CurrentState = f.Spec.SuspendRequestedAt, v1beta2.InstanceStateRunning
	require.Equal(t, "vol-e-0", writeOf(t, Decide(s.World), f).Spec["engineName"])
}

// A move that is cancelled after the frontend was ordered to switch: it switches back before the second engine stops.
func TestACancelledMoveSwitchesTheFrontendBackFirst(t *testing.T) {
	s := switching(t)
	s.Volume.Spec.TargetNodeID = ""
	s.step()
	require.Equal(t, "vol-e-0", s.Frontends[0].Spec.EngineName)
	require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Spec.DesireState)
	watched(t, s)
	oneEngine(t, s, "vol-e-0", "x")
}

// The last report of the first engine counts: the second one does not know the replica.
func TestAReplicaThatTheFirstEngineDroppedIsRebuiltAfterTheMove(t *testing.T) {
	s := secondIs(t)
	for !leadsTo(s.Frontends[0], s.Engines[1]) {
		s.step()
		s.imMonitor()
	}
	s.Engines[0].Status.ReplicaModeMap["vol-r-2"] = v1beta2.ReplicaModeERR
	for range 10 {
		s.step()
		s.imMonitor()
	}
	require.NotEmpty(t, s.Replicas[2].Spec.FailedAt, "%s", s)
	require.NotContains(t, s.Engines[0].Spec.ReplicaAddressMap, "vol-r-2")
}

func TestARelocatedTargetThatFailsIsReplacedUnderTheFrontend(t *testing.T) {
	s := moved(t, "x", "y", "z")
	s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError
	watched(t, s)
	oneEngine(t, s, "vol-e-2", "y")
}

func TestATargetWhoseNodeDiesGoesWhereItIsWanted(t *testing.T) {
	s := moved(t, "x", "y", "z")
	s.Nodes["y"] = Node{Known: true, Down: true}
	for range 5 {
		s.step()
		s.imMonitor()
	}
	require.Len(t, s.Engines, 1, "it waits there as long as it is wanted there")
	s.Volume.Spec.TargetNodeID = ""
	for range 20 {
		s.step()
		s.imMonitor()
		s.Now = s.Now.Add(time.Second)
	}
	require.Equal(t, "vol-e-2", s.Frontends[0].Spec.EngineName, "%s", s)
	require.Empty(t, s.Volume.Status.CurrentTargetNodeID)
	require.NotEmpty(t, s.Replicas[1].Spec.FailedAt, "the replica there lacks what is written now")
	require.Empty(t, s.Replicas[0].Spec.FailedAt)
	s.Nodes["y"] = Node{Known: true}
	for range 10 {
		s.step()
		s.imMonitor()
	}
	require.Len(t, s.Engines, 1, "%s", s)
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
}

// UPG-3, whatever is wanted when, and whatever fails: an I/O target exists at every moment, the volume stays attached, and in the end the
// target is where it is wanted.
func TestATargetIsAlwaysThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := attached(v1beta2.DataEngineV2, "x", "y", "z")
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				s.Volume.Spec.TargetNodeID = rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "target")
			case 1: // an engine that the frontend does not lead to fails
				for _, e := range s.Engines {
					if !leadsTo(s.Frontends[0], e) && e.Status.CurrentState == v1beta2.InstanceStateRunning {
						e.Status.CurrentState = v1beta2.InstanceStateError
					}
				}
			case 2:
				s.Now = s.Now.Add(pollAge)
			case 3, 4, 5:
				s.imMonitor()
			default:
				s.step()
			}
			require.True(t, hasWay(s), "%s", s)
			require.Equal(t, "x", s.Volume.Status.CurrentNodeID, "%s", s)
		}
		watched(t, s)
		wanted := s.Volume.Spec.TargetNodeID
		if wanted == "" {
			wanted = "x"
		}
		require.Len(t, s.Engines, 1, "%s", s)
		require.Equal(t, wanted, s.Engines[0].Spec.NodeID, "%s", s)
		for _, r := range s.Replicas {
			require.Empty(t, r.Spec.FailedAt, "%s", s)
		}
	})
}
