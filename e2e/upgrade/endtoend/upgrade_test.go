package endtoend

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/shared/api/v1beta2"
)

const near, far, third = scenarios.Near, scenarios.Far, scenarios.Third

// U1: the third documented topology. U8: detached and v1 volumes are not changed.
func TestThreeNodesAreUpgradedUnderAWorkload(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("vol-1", near)
	s.Volume("vol-2", far)
	s.Volume("vol-3", third)
	require.NoError(t, s.Order(s.Ctx, "v1", v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, s.Attach(s.Ctx, "v1", near, fixture.Patience))
	require.NoError(t, s.WaitRobust(s.Ctx, "v1", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	s.Attached("detached", far, 3, nil)
	require.NoError(t, s.LetGo(s.Ctx, "detached", fixture.Patience))
	bystanders := append(specs(s, "v1"), specs(s, "detached")...)
	s.StartChecker()
	s.Ordered("upgrade", fixture.Image("second"))
	m := s.Reaches("upgrade", v1beta2.UpgradeStateCompleted)
	require.Len(t, m.Status.UpgradedNodes, 3)
	s.Done()
	require.Equal(t, bystanders, append(specs(s, "v1"), specs(s, "detached")...), "U8")
	s.Gone("v1", "detached")
}

// specs are the specs of a volume's objects.
func specs(s *fixture.Scenario, volume string) []any {
	s.T.Helper()
	var out []any
	var engines v1beta2.EngineList
	var replicas v1beta2.ReplicaList
	which := client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
	require.NoError(s.T, s.List(s.Ctx, &engines, which))
	require.NoError(s.T, s.List(s.Ctx, &replicas, which))
	for _, e := range engines.Items {
		e.Spec.LookRequestedAt = ""
		out = append(out, e.Name, e.Spec)
	}
	for _, r := range replicas.Items {
		out = append(out, r.Name, r.Spec)
	}
	return out
}
