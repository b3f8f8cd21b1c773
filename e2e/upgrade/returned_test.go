//go:build !fast

package upgrade

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// U3: a node is partitioned, its volume is attached elsewhere, and the node returns with the engine and the frontend that it still runs;
// its server reports no UUID for them. Both end without a person, so that they do not block the replacement of the node's instance
// manager; no Orphan is created.
func TestStaleInstancesOfAPartitionedNodeEndByThemselves(t *testing.T) {
	h := attached(t, "returned")
	seen, err := h.StopWriting(h.ctx, h.volume)
	require.NoError(t, err)
	require.Empty(t, seen.Harm())
	require.NoError(t, h.Inject(h.ctx, world.Fault{Kind: "empty-uuid", DataEngine: "v2"}))
	require.NoError(t, h.CutNode(h.ctx, scenarios.Near))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Near, v1beta2.ConditionFalse, patience))
	require.NoError(t, h.LetGo(h.ctx, h.volume, patience))
	require.NoError(t, h.Attach(h.ctx, h.volume, scenarios.Far, patience))
	require.NoError(t, h.JoinNode(h.ctx, scenarios.Near))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Near, v1beta2.ConditionTrue, patience))
	h.waits("the stale instances of the node to end", func() (string, error) {
		var managers v1beta2.InstanceManagerList
		if err := h.List(h.ctx, &managers); err != nil {
			return "", err
		}
		for i := range managers.Items {
			im := &managers.Items[i]
			if im.Spec.NodeID != scenarios.Near || im.Spec.DataEngine != v1beta2.DataEngineV2 ||
				im.Status.CurrentState != v1beta2.InstanceManagerStateRunning {
				continue
			}
			if left := len(im.Status.InstanceEngines) + len(im.Status.InstanceEngineFrontends); left == 0 {
				return "", nil
			}
			return im.Name + " still lists engines or frontends", nil
		}
		return "no instance manager runs there", nil
	})
	var orphans v1beta2.OrphanList
	require.NoError(t, h.List(h.ctx, &orphans))
	for _, o := range orphans.Items {
		require.NotEqual(t, v1beta2.OrphanTypeEngineInstance, o.Spec.OrphanType, "%s", o.Name)
	}
	require.NoError(t, h.Heal(h.ctx))
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, 2*patience))
	require.NoError(t, h.Verify(h.ctx, h.volume))
	require.NoError(t, h.NoHarm(h.ctx))
	require.NoError(t, h.LetGo(h.ctx, h.volume, patience))
	require.NoError(t, h.DeleteVolume(h.ctx, h.volume))
}
