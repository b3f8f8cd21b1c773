package upgradecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// What changed after it was evaluated is evaluated again: neither a target is wished on a volume that was moved meanwhile, nor a state
// written over another one.
func TestWhatChangedAfterItWasJudgedIsJudgedAnew(t *testing.T) {
	w := newWorld(t, func(m *model.World) { m.AddVolume("vol", "node-1", "node-2", "node-3") })
	ctx := t.Context()
	touch := func(o client.Object) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"changed":"meanwhile"}}}`))
		require.NoError(t, w.admin.Patch(ctx, o, patch))
	}
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "evaluated"}}
	u.Spec = v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV2, InstanceManagerImage: model.NewImage,
		DataEngineUpgradeManager: "m"}
	require.NoError(t, w.admin.Create(ctx, u))
	v := &v1beta2.Volume{}
	require.NoError(t, w.admin.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "vol"}, v))
	evaluated := &nodeupgrade.World{Upgrade: u.DeepCopy(),
		Cluster: cluster.Cluster{Volumes: map[string]cluster.Volume{"vol": {Object: v.DeepCopy()}}}}

	touch(v)
	_, err := applyNode(ctx, w.admin, evaluated, nodeupgrade.Verdict{Status: u.Status, Effects: []nodeupgrade.Effect{
		{Kind: nodeupgrade.SetTarget, Name: "vol", Volume: "vol", Node: "node-2"}}})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.NoError(t, w.admin.Get(ctx, client.ObjectKeyFromObject(v), v))
	require.Empty(t, v.Spec.TargetNodeID)

	touch(u)
	_, err = applyNode(ctx, w.admin, evaluated,
		nodeupgrade.Verdict{Status: v1beta2.NodeDataEngineUpgradeStatus{State: v1beta2.UpgradeStateRollingBack}})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.NoError(t, w.admin.Get(ctx, client.ObjectKeyFromObject(u), u))
	require.Empty(t, u.Status.State)
}
