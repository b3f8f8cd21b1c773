package nodeupgrade_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A volume may have two replicas on the node. The second is listed once the first has left, and until then
// it is named as what is waited for.
func TestASecondReplicaOnTheNodeIsNamedOnceTheFirstHasLeft(t *testing.T) {
	s := at(detaching, func(s *scene) {
		s.polled()
		s.takeOut()
		second := s.Replicas["vol-r-node-2"].DeepCopy()
		second.Name, second.Spec.NodeID = "vol-r-second", "node-1"
		s.Replicas[second.Name] = second
	})
	v := s.decide()
	require.Equal(t, detaching, v.Status.State)
	require.Empty(t, v.Status.Volumes["vol"].Replica, "the one that has left is not listed any more")
	require.Equal(t, "Volume vol: replica vol-r-second leaves its engine and stops.",
		conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message)
	s.u.Status = v.Status
	require.Equal(t, "vol-r-second", s.decide().Status.Volumes["vol"].Replica)
}
