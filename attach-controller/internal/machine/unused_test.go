package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// newlyMade is a volume with two replicas as longhorn-manager leaves it between its creation and its first attachment.
func newlyMade(dataEngine string) *fixture {
	s := newFixture(dataEngine, "x", "y")
	s.Volume.Status = v1beta2.VolumeStatus{State: v1beta2.VolumeStateDetached, Robustness: v1beta2.VolumeRobustnessUnknown,
		CurrentImage: "image", Conditions: []v1beta2.Condition{{Type: v1beta2.VolumeScheduled, Status: v1beta2.ConditionTrue}}}
	facts := factsOf(&s.World)
	e := facts.newEngine("vol-e-0", true)
	e.Status.CurrentState = v1beta2.InstanceStateStopped
	s.Engines = []*v1beta2.Engine{e}
	if dataEngine == v1beta2.DataEngineV2 {
		frontend := facts.newFrontend(e, "")
		frontend.Status.CurrentState = v1beta2.InstanceStateStopped
		s.Frontends = []*v1beta2.EngineFrontend{frontend}
	}
	return s
}

func TestAVolumeThatLonghornManagerNeverAttachedIsUsable(t *testing.T) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		for _, state := range []string{v1beta2.VolumeStateCreating, v1beta2.VolumeStateDetached} {
			for _, wanted := range []string{"", "x"} {
				s := newlyMade(dataEngine)
				s.Volume.Status.State, s.Volume.Spec.NodeID = state, wanted
				first := Decide(s.World)
				require.Equal(t, Verdict{Reads: Reads{Fresh: true}, Status: map[string]any{"currentImage": ""}}, first,
					"nothing else rests on it yet")
				require.True(t, s.settle())
				require.NotEqual(t, v1beta2.VolumeRobustnessFaulted, s.Volume.Status.Robustness)
				require.True(t, conditions.IsFalse(s.Volume.Status.Conditions, v1beta2.VolumeFaulted))
				if wanted == "" {
					require.Equal(t, v1beta2.VolumeStateDetached, s.Volume.Status.State)
					require.Empty(t, s.Volume.Status.CurrentImage)
				}
				s.Volume.Spec.NodeID = "x"
				require.True(t, s.settle())
				require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State)
				require.Equal(t, v1beta2.VolumeRobustnessHealthy, s.Volume.Status.Robustness)
				require.Equal(t, "image", s.Volume.Status.CurrentImage)
				require.NotEmpty(t, s.Replicas[0].Spec.HealthyAt)
			}
		}
	}
}

// Nothing of the claim is half stored: an evaluation whose write was lost decides the same again, also where a ticket came meanwhile.
func TestAnUnusedVolumeIsFoundAgainAfterALostWrite(t *testing.T) {
	s := newlyMade(v1beta2.DataEngineV1)
	first := Decide(s.World)
	require.Equal(t, first, Decide(s.World))
	s.Volume.Spec.NodeID = "x"
	require.Equal(t, first, Decide(s.World))
}

func TestAnyTraceOfAnAttachmentKeepsTheImageOfAVolume(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"a condition of this package": func(s *fixture) {
			s.Volume.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.VolumeAttached, Status: v1beta2.ConditionFalse}}
		},
		"a fault":                    func(s *fixture) { s.Volume.Status.Robustness = v1beta2.VolumeRobustnessFaulted },
		"another robustness":         func(s *fixture) { s.Volume.Status.Robustness = v1beta2.VolumeRobustnessDegraded },
		"it was degraded":            func(s *fixture) { s.Volume.Status.LastDegradedAt = stamp(s.Now) },
		"it takes room":              func(s *fixture) { s.Volume.Status.ActualSize = 1 },
		"it is attached":             func(s *fixture) { s.Volume.Status.State = v1beta2.VolumeStateAttached },
		"it was being attached":      func(s *fixture) { s.Volume.Status.State = v1beta2.VolumeStateAttaching },
		"it was being detached":      func(s *fixture) { s.Volume.Status.State = v1beta2.VolumeStateDetaching },
		"it has a node":              func(s *fixture) { s.Volume.Status.CurrentNodeID = "x" },
		"it was migrating":           func(s *fixture) { s.Volume.Status.CurrentMigrationNodeID = "x" },
		"it is being deleted":        func(s *fixture) { deleted(s.Volume) },
		"a replica that is healthy":  func(s *fixture) { s.Replicas[1].Spec.HealthyAt = stamp(s.Now) },
		"a replica that was healthy": func(s *fixture) { s.Replicas[1].Spec.LastHealthyAt = stamp(s.Now) },
		"a replica that failed":      func(s *fixture) { s.Replicas[1].Spec.FailedAt = stamp(s.Now) },
		"a replica that failed once": func(s *fixture) { s.Replicas[1].Spec.LastFailedAt = stamp(s.Now) },
		"a replica that must run":    func(s *fixture) { s.Replicas[1].Spec.DesireState = v1beta2.InstanceStateRunning },
		"a replica that runs":        func(s *fixture) { s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateRunning },
		"a replica of unknown state": func(s *fixture) { s.Replicas[1].Status.CurrentState = v1beta2.InstanceStateUnknown },
		"no replica":                 func(s *fixture) { s.Replicas = nil },
		"no engine":                  func(s *fixture) { s.Engines = nil },
		"an engine that must run":    func(s *fixture) { s.Engines[0].Spec.DesireState = v1beta2.InstanceStateRunning },
		"an engine that failed":      func(s *fixture) { s.Engines[0].Status.CurrentState = v1beta2.InstanceStateError },
		"an engine over replicas":    func(s *fixture) { s.Engines[0].Spec.ReplicaAddressMap = map[string]string{"vol-r-0": "ip:1"} },
		"an engine that used one":    func(s *fixture) { s.Engines[0].Status.ReplicaModeMap = map[string]string{"vol-r-0": "RW"} },
		"a snapshot": func(s *fixture) {
			s.Engines[0].Status.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {Name: "volume-head"}}
		},
		"a frontend that runs": func(s *fixture) { s.Frontends[0].Status.CurrentState = v1beta2.InstanceStateRunning },
	} {
		t.Run(name, func(t *testing.T) {
			s := newlyMade(v1beta2.DataEngineV2)
			require.True(t, factsOf(&s.World).neverAttached())
			change(s)
			require.False(t, factsOf(&s.World).neverAttached())
			for range 30 {
				require.NotContains(t, Decide(s.World).Status, "currentImage")
				s.step()
				s.imMonitor()
			}
			require.Equal(t, "image", s.Volume.Status.CurrentImage)
		})
	}
}

// longhorn-manager creates the replica of a strict-local volume before it has a node.
func TestAReplicaWithoutANodeIsNotReportedAsOneOnADownNode(t *testing.T) {
	s := newFixture(v1beta2.DataEngineV1, "", "y")
	s.Volume.Spec.NodeID = "x"
	require.True(t, s.settle())
	require.Equal(t, v1beta2.VolumeStateAttached, s.Volume.Status.State, "the volume does without it")
	require.Empty(t, s.Replicas[0].Spec.HealthyAt)

	s = newFixture(v1beta2.DataEngineV1, "", "y")
	s.Volume.Spec.NodeID, s.Nodes["y"] = "x", Node{Known: true, Down: true}
	require.True(t, s.settle())
	require.Contains(t, waitsFor(Decide(s.World)), `Healthy replica vol-r-1 is on node "y", which is down`)

	s = newFixture(v1beta2.DataEngineV1, "")
	s.Volume.Spec.NodeID = "x"
	require.True(t, s.settle())
	require.Equal(t, "The volume has no replica yet: see the condition Scheduled.", waitsFor(Decide(s.World)))
	require.False(t, conditions.IsTrue(s.Volume.Status.Conditions, v1beta2.VolumeFaulted))
}
