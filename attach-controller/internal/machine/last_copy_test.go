package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// However early the engine is lost, an empty replica that is placed meanwhile must not be taken for one with the data.
func TestReplicasOfTheFirstOpenAreHealthyBeforeTheirEngineHearsOfThem(t *testing.T) {
	s := newStage(v1beta2.DataEngineV1, "x", "y")
	for range 20 {
		verdict := Decide(s.World)
		for _, w := range verdict.Writes {
			if _, ordered := w.Spec["replicaAddressMap"]; ordered {
				require.Equal(t, []string{"vol-r-0", "vol-r-1"}, markedHealthy(verdict.Writes), "in an earlier stage of the same pass")
				return
			}
		}
		s.Volume.Spec.NodeID = "x"
		s.step()
		s.imMonitor()
	}
	require.Fail(t, "no engine was ordered")
}

func markedHealthy(writes []Write) []string {
	var out []string
	for _, w := range writes {
		if at, _ := w.Spec["healthyAt"].(string); w.Stage == StageFail && at != "" {
			out = append(out, w.Object.GetName())
		}
	}
	return out
}

// UPG-1: the cache may not show yet that the other replica was marked a moment ago.
func TestAReplicaIsMarkedOnlyOnReplicasReadPastTheCache(t *testing.T) {
	s := newStage(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Spec.NodeID = "x"
	s.Volume.Status.State = v1beta2.VolumeStateAttaching
	require.False(t, Decide(s.World).Fresh, "nothing is marked")

	s.Replicas[0].Spec.DesireState, s.Replicas[0].Status.CurrentState = v1beta2.InstanceStateRunning, v1beta2.InstanceStateError
	require.True(t, Decide(s.World).Fresh)

	s.Replicas[1].Spec.FailedAt = "2026-01-01T00:00:00Z"
	require.False(t, Decide(s.World).Fresh, "the last one is never marked")
}

// Nothing was ever written to such a volume, so that any of its replicas will do.
func TestAVolumeThatWasNeverOpenedIsSalvagedFromReplicasThatWereNeverHealthy(t *testing.T) {
	s := newStage(v1beta2.DataEngineV1, "x", "y")
	s.Volume.Status.State = v1beta2.VolumeStateDetached
	for _, r := range s.Replicas {
		r.Spec.FailedAt, r.Spec.LastFailedAt = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"
	}
	verdict := Decide(s.World)
	require.Equal(t, v1beta2.VolumeRobustnessUnknown, verdict.Status["robustness"])
	for _, w := range verdict.Writes {
		if r, replica := w.Object.(*v1beta2.Replica); replica {
			require.Equal(t, "", w.Spec["failedAt"], r.Name)
		}
	}
}
