package machine

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// asked is a volume on x that is wanted on y; no step was done yet.
func asked(dataEngine string) *fixture {
	s := attached(dataEngine, "x", "y")
	s.Volume.Spec.MigrationNodeID, s.Volume.Status.CurrentMigrationNodeID = "y", "y"
	return s
}

// A10, M7.
func TestTheSecondEngineIsCreatedAfterAFreshPoll(t *testing.T) {
	at := func(s *fixture, ago time.Duration) string { return s.Now.Add(-ago).Format(time.RFC3339Nano) }
	for name, one := range map[string]struct {
		requested, polled time.Duration // ago; negative is never
		made, asks        bool
	}{
		"never asked":                  {-1, -1, false, true},
		"asked just now":               {time.Second, -1, false, false},
		"asked, and polled before":     {time.Second, 2 * time.Second, false, false},
		"asked and answered":           {2 * time.Second, time.Second, true, false},
		"answered at the same instant": {time.Second, time.Second, true, false},
		"answered too long ago":        {2 * pollAge, pollAge, false, true},
		"asked long ago, no answer":    {2 * pollAge, -1, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := asked(v1beta2.DataEngineV1)
			e := s.Engines[0]
			if one.requested >= 0 {
				e.Spec.LookRequestedAt = at(s, one.requested)
			}
			if one.polled >= 0 {
				e.Status.LookedAt = at(s, one.polled)
			}
			made, asks := false, false
			for _, w := range Decide(s.World).Writes {
				made = made || w.Kind == Create
				asks = asks || w.Spec["lookRequestedAt"] != nil
			}
			require.Equal(t, one.made, made)
			require.Equal(t, one.asks, asks)
		})
	}
}

func TestTheSecondEngineGetsTheReplicasThatAreRW(t *testing.T) {
	s := asked(v1beta2.DataEngineV2)
	e := s.Engines[0]
	e.Spec.LookRequestedAt, e.Status.LookedAt = stamp(s.Now), stamp(s.Now)
	e.Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO
	second := Decide(s.World).Writes[0].Object.(*v1beta2.Engine)
	require.Equal(t, map[string]string{"vol-r-0": "ip-x:10000"}, second.Spec.ReplicaAddressMap)
	require.Equal(t, "vol-e-1", second.Name)
	require.Equal(t, "y", second.Spec.NodeID)
	require.Equal(t, v1beta2.InstanceStateRunning, second.Spec.DesireState)
	require.False(t, second.Spec.Active)
}

func TestNoSecondEngineIsCreatedWhileEitherNodeIsDown(t *testing.T) {
	for _, node := range []string{"x", "y"} {
		s := asked(v1beta2.DataEngineV1)
		e := s.Engines[0]
		e.Spec.LookRequestedAt, e.Status.LookedAt = stamp(s.Now), stamp(s.Now)
		s.Nodes[node] = Node{Known: true, Down: true}
		require.Empty(t, Decide(s.World).Writes, node)
	}
}

// moving has both sides of the migration up.
func moving(t *testing.T, dataEngine string) *fixture {
	t.Helper()
	s := asked(dataEngine)
	require.True(t, s.settle())
	require.Len(t, s.Engines, 2)
	require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Status.CurrentState)
	return s
}

// A rebuild that has not begun may never begin, and no migration waits for it: its replica joins the engine again afterwards.
func TestAMigrationBeginsWithoutTheReplicasWhoseRebuildHasNotBegun(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"its rebuild waits for room":         func(*fixture) {},
		"its process has failed":             func(s *fixture) { s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateError },
		"the state of its process is lost":   func(s *fixture) { s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateUnknown },
		"it is being deleted":                func(s *fixture) { deleted(s.Replicas[1]) },
		"the one that serves is deleted":     func(s *fixture) { deleted(s.Replicas[0]) },
		"it is gone, and the map has it yet": func(s *fixture) { s.Replicas = s.Replicas[:1] },
		"it has failed": func(s *fixture) {
			s.Replicas[1].Spec.HealthyAt, s.Replicas[1].Spec.FailedAt = stamp(s.Now), stamp(s.Now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := unrebuilt(v1beta2.DataEngineV1)
			first := s.Engines[0]
			happens(s)
			require.Contains(t, first.Spec.ReplicaAddressMap, "vol-r-1")
			first.Spec.LookRequestedAt, first.Status.LookedAt = "", ""
			asks := writeOf(t, Decide(s.World), first)
			require.NotContains(t, asks.Spec, "replicaAddressMap", "an older poll may lack a rebuild that has begun")
			require.Contains(t, asks.Spec, "lookRequestedAt")
			first.Spec.LookRequestedAt, first.Status.LookedAt = stamp(s.Now), stamp(s.Now)
			verdict := Decide(s.World)
			require.True(t, verdict.Fresh)
			require.Equal(t, map[string]any{"vol-r-1": nil}, writeOf(t, verdict, first).Spec["replicaAddressMap"])
			require.Contains(t, verdict.Conditions[0].Message, "begins without the replicas whose rebuild has not begun")
			s.step()
			s.step()
			require.Len(t, s.Engines, 2, "%s", s)
		})
	}
}

// unrebuilt is a volume that is wanted on y while its engine has not reported the replica there, which must be rebuilt.
func unrebuilt(dataEngine string) *fixture {
	s := asked(dataEngine)
	s.Replicas[1].Spec.HealthyAt = ""
	delete(s.Engines[0].Status.ReplicaModeMap, "vol-r-1")
	s.Engines[0].Spec.LookRequestedAt, s.Engines[0].Status.LookedAt = stamp(s.Now), stamp(s.Now)
	return s
}

func TestAMigrationLeavesOutNoReplicaThatMayHaveData(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"it has all data":            func(s *fixture) { s.Replicas[1].Spec.HealthyAt = stamp(s.Now) },
		"its rebuild has begun":      func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeWO },
		"no other is known to serve": func(s *fixture) { s.Engines[0].Status.ReplicaModeMap["vol-r-0"] = v1beta2.ReplicaModeERR },
		"nothing is reported":        func(s *fixture) { s.Engines[0].Status.ReplicaModeMap = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := unrebuilt(v1beta2.DataEngineV1)
			happens(s)
			for _, w := range Decide(s.World).Writes {
				require.NotContains(t, w.Spec, "replicaAddressMap")
				require.NotEqual(t, Create, w.Kind)
			}
		})
	}
	for _, w := range Decide(unrebuilt(v1beta2.DataEngineV2).World).Writes {
		require.NotContains(t, w.Spec, "replicaAddressMap", "a v2 engine migrates beside a rebuild")
	}
}

func TestAReplicaThatAMigrationLeftOutIsRebuiltAfterwards(t *testing.T) {
	for _, wanted := range []string{"x", "y"} {
		s := unrebuilt(v1beta2.DataEngineV1)
		require.True(t, s.settle(), "%s", s)
		require.Len(t, s.Engines, 2, "%s", s)
		require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 1, "%s", s)
		s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = wanted, ""
		require.True(t, s.settle(), "%s", s)
		require.Len(t, s.Engines, 1, "%s", s)
		require.Equal(t, wanted, s.Volume.Status.CurrentNodeID)
		require.Len(t, s.Engines[0].Spec.ReplicaAddressMap, 2, "%s", s)
		require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
	}
}

func TestAMigrationEndsWithOneEngine(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for name, one := range map[string]struct {
			wanted, target string
			engine         string
		}{
			"confirmed":   {"y", "", "vol-e-1"},
			"rolled back": {"x", "", "vol-e-0"},
			"cancelled":   {"", "", ""},
		} {
			t.Run(dataEngine+" "+name, func(t *testing.T) {
				s := moving(t, dataEngine)
				s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = one.wanted, one.target
				require.True(t, s.settle(), "%s", s)
				require.Len(t, s.Engines, 1)
				require.Equal(t, one.wanted, s.Volume.Status.CurrentNodeID)
				require.Empty(t, s.Volume.Status.CurrentMigrationNodeID)
				if one.engine != "" {
					require.Equal(t, one.engine, s.Engines[0].Name)
					require.True(t, s.Engines[0].Spec.Active)
				}
				for _, r := range s.Replicas {
					require.True(t, one.engine == "" || r.Spec.EngineName == one.engine, "%s of %s", r.Name, r.Spec.EngineName)
				}
				if dataEngine == v1beta2.DataEngineV2 {
					require.Len(t, s.Frontends, 1)
					require.Equal(t, s.Engines[0].Name, s.Frontends[0].Spec.EngineName)
					require.True(t, s.Frontends[0].Spec.Active)
				}
			})
		}
	}
}

func TestAMigrationThatGoesElsewhereEndsItsSecondEngineFirst(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		s := moving(t, dataEngine)
		s.Volume.Spec.MigrationNodeID = "z"
		require.True(t, s.settle(), "%s", s)
		require.Len(t, s.Engines, 2)
		require.Equal(t, "z", s.Engines[1].Spec.NodeID)
		require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Status.CurrentState)
		require.Equal(t, "z", s.Volume.Status.CurrentMigrationNodeID)
		require.Equal(t, "x", s.Volume.Status.CurrentNodeID)
	}
}

// Wherever a roll back was when the migration is wanted again.
func TestAMigrationThatIsWantedAgainIsNeverStuck(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for steps := range 8 {
			s := moving(t, dataEngine)
			s.Volume.Spec.MigrationNodeID = ""
			for n := range steps {
				s.step()
				if n%2 == 1 {
					s.imMonitor()
				}
			}
			s.Volume.Spec.MigrationNodeID = "y"
			require.True(t, s.settle(), "%s", s)
			require.Len(t, s.Engines, 2, "after %d steps:\n%s", steps, s)
			require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[1].Status.CurrentState)
			for _, f := range s.Frontends {
				require.Equal(t, v1beta2.InstanceStateRunning, f.Status.CurrentState, "after %d steps:\n%s", steps, s)
			}
		}
	}
}

// ATT-1, M6: what cannot be handed over is detached, and attached again at the target.
func TestAHandOverThatCannotBeDetachesEverything(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"the source's node is down":  func(s *fixture) { s.Nodes["x"] = Node{Known: true, Down: true} },
		"the target's node is down":  func(s *fixture) { s.Nodes["y"] = Node{Known: true, Down: true} },
		"the target's engine failed": func(s *fixture) { s.Engines[1].Status.CurrentState = v1beta2.InstanceStateError },
		"the target's frontend failed": func(s *fixture) {
			s.Frontends[1].Status.CurrentState = v1beta2.InstanceStateError
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := moving(t, v1beta2.DataEngineV2)
			s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
			happens(s)
			verdict := Decide(s.World)
			require.Equal(t, v1beta2.VolumeStateDetaching, verdict.Status["state"])
			for _, w := range verdict.Writes {
				require.NotContains(t, w.Spec, "active")
			}
			for _, node := range []string{"x", "y"} {
				s.Nodes[node] = Node{Known: true}
			}
			require.True(t, s.settle(), "%s", s)
			require.Equal(t, "y", s.Volume.Status.CurrentNodeID, "%s", s)
			require.Len(t, s.Engines, 1)
		})
	}
}

// The first engine has ended before the second one is the volume's: its last writes are over.
func TestAHandOverWaitsForTheEndOfTheFirstEngine(t *testing.T) {
	s := moving(t, v1beta2.DataEngineV2)
	s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
	for range 5 {
		s.step()
	}
	require.Equal(t, "x", s.Volume.Status.CurrentNodeID)
	require.Equal(t, v1beta2.InstanceStateStopped, s.Frontends[0].Spec.DesireState)
	require.Equal(t, v1beta2.InstanceStateRunning, s.Engines[0].Spec.DesireState, "the frontend ends first")
}

// A hand-over that was interrupted continues from what its writes left.
func TestAHandOverThatWasInterruptedIsCompleted(t *testing.T) {
	for name, c := range map[string]struct {
		left  func(*fixture)
		state any
		node  any
	}{
		"the first engine was deleted": {func(s *fixture) { s.Engines = s.Engines[1:] }, nil, "y"},
		"and the second one does not run": {func(s *fixture) {
			s.Engines = s.Engines[1:]
			s.Engines[0].Status.CurrentState = v1beta2.InstanceStateStarting
		}, v1beta2.VolumeStateDetaching, nil},
		"and the second one runs elsewhere": {func(s *fixture) {
			s.Engines = s.Engines[1:]
			s.Engines[0].Spec.NodeID = "z"
		}, v1beta2.VolumeStateDetaching, nil},
		"the first engine has stopped, and the second one is the volume's": {func(s *fixture) {
			stop(s.Engines[0])
			s.Engines[0].Spec.Active, s.Engines[1].Spec.Active = false, true
		}, nil, "y"},
	} {
		t.Run(name, func(t *testing.T) {
			s := moving(t, v1beta2.DataEngineV2)
			s.Volume.Spec.NodeID, s.Volume.Spec.MigrationNodeID = "y", ""
			s.Frontends = s.Frontends[1:]
			c.left(s)
			v := Decide(s.World)
			require.Equal(t, c.state, v.Status["state"])
			require.Equal(t, c.node, v.Status["currentNodeID"])
			require.True(t, s.settle(), "%s", s)
			require.Equal(t, "y", s.Volume.Status.CurrentNodeID)
			require.Len(t, s.Engines, 1, "%s", s)
			require.Equal(t, "y", s.Engines[0].Spec.NodeID)
		})
	}
}

// The second frontend would leave the relocated target without a frontend's way to it: the source's I/O would end.
func TestAMigrationWaitsForARelocatedTarget(t *testing.T) {
	for _, to := range []string{"y", "z"} {
		for moves := range 12 { // migration is wanted after so many steps of the move
			s := attached(v1beta2.DataEngineV2, "x", "y", "z")
			s.Nodes["x"] = Node{Known: true, Upgrading: true}
			s.Volume.Spec.TargetNodeID = "y"
			for range moves {
				s.step()
				s.imMonitor()
			}
			s.Volume.Spec.MigrationNodeID = to
			sourceServes := func() {
				source := s.Frontends[0]
				require.Equal(t, "x", source.Spec.NodeID, "%s", s)
				require.Equal(t, v1beta2.InstanceStateRunning, source.Spec.DesireState, "%s", s)
				require.True(t, slices.ContainsFunc(s.Engines, func(e *v1beta2.Engine) bool {
					return leadsTo(source, e) && ofEngine(e).wanted
				}), "%s", s)
			}
			settle := func() {
				for range 60 {
					changed := s.step()
					changed = s.imMonitor() || changed
					s.Now = s.Now.Add(time.Second)
					sourceServes()
					if !changed {
						return
					}
				}
				require.Fail(t, "it does not come to rest", "%s", s)
			}
			settle()
			s.Volume.Spec.TargetNodeID, s.Nodes["x"] = "", Node{Known: true}
			settle()
			require.Equal(t, to, s.Volume.Status.CurrentMigrationNodeID, "after %d steps: %s", moves, s)
			require.Empty(t, s.Volume.Status.CurrentTargetNodeID)
			require.Len(t, s.Frontends, 2, "%s", s)
		}
	}
}
