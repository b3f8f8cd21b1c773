package machine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func deleted(o metav1.Object) {
	now := metav1.Now()
	o.SetDeletionTimestamp(&now)
}

// UPG-1.
func TestTheLastHealthyReplicaNeverGetsFailedAt(t *testing.T) {
	for name, happens := range map[string]func(*fixture){
		"the engine dropped all": func(s *fixture) {
			for _, r := range s.Replicas {
				s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
			}
		},
		"all instances failed": func(s *fixture) {
			for _, r := range s.Replicas {
				r.Status.CurrentState = v1beta2.InstanceStateError
			}
			s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError
		},
		"all nodes are down": func(s *fixture) {
			for node := range s.Nodes {
				s.Nodes[node] = Node{Known: true, Down: true}
			}
		},
		"one node after the other goes down": func(s *fixture) {
			for _, node := range []string{"x", "y", "z"} {
				s.Nodes[node] = Node{Known: true, Down: true}
				s.step()
				s.imMonitor()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, wanted := range []string{"x", ""} {
				s := attached(v1beta2.DataEngineV1, "x", "y", "z")
				happens(s)
				s.Volume.Spec.NodeID = wanted
				for range 30 {
					s.step()
					s.imMonitor()
					healthy := 0
					for _, r := range s.Replicas {
						if r.Spec.FailedAt == "" {
							healthy++
						}
					}
					require.Positive(t, healthy, "%s", s)
				}
			}
		})
	}
}

func TestAnEngineThatDroppedAllItsReplicasFaultsTheVolume(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y")
	for _, r := range s.Replicas {
		s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
	}
	s.step()
	require.Equal(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness)
	require.Contains(t, conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeFaulted).Message, "dropped all its replicas")
	s.step()
	require.Contains(t, conditions.Get(s.Volume.Status.Conditions, v1beta2.VolumeFaulted).Message, "dropped all its replicas", "it is kept")
}

// A15b.
func TestAFaultedVolumeStartsNoEngineAndNoReplicaAndMarksNoneAsLeftOut(t *testing.T) {
	for _, state := range []string{v1beta2.VolumeStateAttached, v1beta2.VolumeStateAttaching} {
		s := attached(v1beta2.DataEngineV1, "x", "y", "z")
		if s.Volume.Status.State = state; state == v1beta2.VolumeStateAttaching {
			s.Volume.Status.CurrentNodeID = ""
		}
		s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError
		stopped, unreachable := s.Replicas[1], s.Replicas[2]
		stopped.Spec.DesireState, stopped.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
		s.Nodes["z"] = Node{Known: true, Down: true}
		delete(s.Engines[0].Spec.ReplicaAddressMap, unreachable.Name)
		verdict := Decide(s.World)
		require.Equal(t, v1beta2.VolumeRobustnessFaulted, verdict.Status["robustness"])
		untouched(t, verdict, stopped)
		untouched(t, verdict, unreachable)
		require.Contains(t, waitsFor(verdict), "no engine starts before it is detached")
	}
}

func TestAVolumeKeepsTheLastReplicaThatIsBeingDeleted(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x")
	deleted(s.Replicas[0])
	verdict := Decide(s.World)
	require.NotContains(t, verdict.Status, "robustness")
	require.Empty(t, verdict.Writes)
}

func TestRobustnessFollowsTheRunningEngine(t *testing.T) {
	rw, wo, err := v1beta2.ReplicaModeRW, v1beta2.ReplicaModeWO, v1beta2.ReplicaModeERR
	for name, one := range map[string]struct {
		modes  map[string]string
		wanted int
		says   string
	}{
		"as many as wanted":        {map[string]string{"vol-r-0": rw, "vol-r-1": rw}, 2, v1beta2.VolumeRobustnessHealthy},
		"more than wanted":         {map[string]string{"vol-r-0": rw, "vol-r-1": rw}, 1, v1beta2.VolumeRobustnessHealthy},
		"fewer than wanted":        {map[string]string{"vol-r-0": rw, "vol-r-1": rw}, 3, v1beta2.VolumeRobustnessDegraded},
		"one that is rebuilt":      {map[string]string{"vol-r-0": rw, "vol-r-1": wo}, 2, v1beta2.VolumeRobustnessDegraded},
		"one that was dropped":     {map[string]string{"vol-r-0": rw, "vol-r-1": err}, 2, v1beta2.VolumeRobustnessDegraded},
		"not polled yet":           {nil, 2, v1beta2.VolumeRobustnessUnknown},
		"only of unknown replicas": {map[string]string{"UNKNOWN-tcp://a:1": rw}, 2, v1beta2.VolumeRobustnessUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Engines[0].Status.ReplicaModeMap, s.Volume.Spec.NumberOfReplicas = one.modes, one.wanted
			s.step()
			require.Equal(t, one.says, s.Volume.Status.Robustness)
		})
	}
}

// Modes that an earlier run of the engine reported, or an unreachable engine, are outdated.
func TestModesOfAnUnreachableEngineDoNotCount(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y", "z")
	s.Engines[0].Status.ReplicaModeMap["vol-r-1"] = v1beta2.ReplicaModeERR
	s.Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown
	untouched(t, Decide(s.World), s.Replicas[1])
}

// The engine may have dropped one replica before the instance of the other one failed, and only its next report shows which has the newest
// data: marked now, the failed one would leave the dropped one as the last that counts as healthy.
func TestNoReplicaFailsToStartWhileItsEngineIsNotObserved(t *testing.T) {
	s := attached(v1beta2.DataEngineV1, "x", "y", "z")
	s.Engines[0].Status.UUID, s.Engines[0].Status.CurrentState = "run", v1beta2.InstanceStateUnknown
	s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateError
	untouched(t, Decide(s.World), s.Replicas[1])
	s.Engines[0].Status.UUID = ""
	require.NotEmpty(t, findWrite(Decide(s.World), s.Replicas[1]).Spec["failedAt"], "no engine has used it")
}

// What ends the use of a volume is reported once, with its cause.
func TestAVolumeIsFaultedWithItsCause(t *testing.T) {
	allFailed := func(s *fixture) {
		for _, r := range s.Replicas {
			r.Spec.FailedAt = stamp(s.Now)
		}
	}
	lost := func(s *fixture) {
		allFailed(s)
		s.Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown
	}
	inState := func(state string) func(*fixture) {
		return func(s *fixture) {
			lost(s)
			s.Volume.Spec.NodeID, s.Volume.Status.CurrentNodeID, s.Volume.Status.State = "", "", state
		}
	}
	for name, c := range map[string]struct {
		is   func(*fixture)
		why  string
		read bool
	}{
		"all replicas failed": {lost, "All replicas have failed", true},
		"a frontend failed": {func(s *fixture) { s.Frontends[0].Status.CurrentState = "error" },
			"Frontend vol-ef-0 on x has failed.", false},
		"an engine failed": {func(s *fixture) { s.Engines[0].Status.CurrentState = "error" },
			"Engine vol-e-0 on x has failed.", false},
		"all failed while it was detached": {inState(v1beta2.VolumeStateDetached), "All replicas have failed", true},
		"not while it is being detached":   {inState(v1beta2.VolumeStateDetaching), "", false},
		"not while its engine serves":      {func(*fixture) {}, "", false},
		"not without any replica":          {func(s *fixture) { s.Replicas = nil }, "", false},
		"nor a frontend that is not to run any more": {func(s *fixture) {
			s.Frontends[0].Spec.DesireState, s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateStopped, "error"
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV2, "x", "y")
			c.is(s)
			v := Decide(s.World)
			f := conditions.Get(v.Conditions, v1beta2.VolumeFaulted)
			require.Equal(t, c.why != "", f.Status == v1beta2.ConditionTrue)
			require.Contains(t, f.Message, c.why)
			require.Equal(t, c.why != "", f.Message != "", f.Message)
			require.Equal(t, c.why != "", slices.Contains(reasons(v), EventFaulted))
			require.True(t, v.Fresh || !c.read, "the cache may not show yet how they were marked")
			s.Volume.Status.Robustness, s.Volume.Status.Conditions = v1beta2.VolumeRobustnessFaulted, v.Conditions
			require.NotContains(t, reasons(Decide(s.World)), EventFaulted, "once")
		})
	}
}

// A failed engine is replaced under the frontend if that already goes to another one, which runs.
func TestAFailedEngineFaultsNoVolumeWhoseFrontendGoesToAnother(t *testing.T) {
	s := switching(t)
	s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError
	require.False(t, conditions.IsTrue(Decide(s.World).Conditions, v1beta2.VolumeFaulted))
	s.Engines[1].Status.CurrentState = v1beta2.InstanceStateStarting
	require.True(t, conditions.IsTrue(Decide(s.World).Conditions, v1beta2.VolumeFaulted))
}
