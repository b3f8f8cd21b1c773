package machine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// After etcd was restored to an earlier state an engine may serve from replicas that have no object any more: it is not stopped for those
// that have one and are gone.
func TestAnEngineThatServesFromReplicasWithoutObjectsIsNotStopped(t *testing.T) {
	for mode, stays := range map[string]bool{v1beta2.ReplicaModeRW: true, v1beta2.ReplicaModeERR: false} {
		t.Run(mode, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			for _, r := range s.Replicas {
				s.Engines[0].Status.ReplicaModeMap[r.Name] = v1beta2.ReplicaModeERR
			}
			s.Engines[0].Status.ReplicaModeMap["created-since"] = mode
			for range 5 {
				s.step()
			}
			require.Equal(t, stays, !conditions.IsTrue(s.Volume.Status.Conditions, v1beta2.VolumeFaulted), "%s", s)
		})
	}
}

// What an engine reported before its node went down proves nothing about what it serves now.
func TestAnEngineThatIsNotObservedServesFromNothing(t *testing.T) {
	for _, down := range []bool{false, true} {
		s := attached(v1beta2.DataEngineV1, "x", "y")
		for _, r := range s.Replicas {
			r.Spec.FailedAt = stamp(s.Now)
			delete(s.Engines[0].Spec.ReplicaAddressMap, r.Name)
		}
		s.Engines[0].Status.ReplicaModeMap = map[string]string{"created-since": v1beta2.ReplicaModeRW}
		s.Nodes["x"] = Node{Known: true, Down: down}
		require.Equal(t, down, conditions.IsTrue(Decide(s.World).Conditions, v1beta2.VolumeFaulted))
	}
}
