//go:build !fast

package rights

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// aPodIsLeftBehind stops a node under a pod that is being deleted: its VolumeAttachment ends, and then the pod.
func aPodIsLeftBehind(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	const name = "left-behind"
	require.NoError(t, w.Set(ctx, "node-down-pod-deletion-policy", "delete-statefulset-pod"))
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, w.PersistentVolume(ctx, name))
	require.NoError(t, w.Claim(ctx, name))
	require.NoError(t, w.ControlledPod(ctx, name, "StatefulSet", name, scenarios.Near))
	_, err := w.WaitKubernetesAttached(ctx, name, scenarios.Near, patience)
	require.NoError(t, err)
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WaitReported(ctx, name, scenarios.Near, patience))
	require.NoError(t, w.MountOn(ctx, scenarios.Near, name))
	require.NoError(t, w.EndPod(ctx, name))
	require.NoError(t, w.CutNode(ctx, scenarios.Near))
	require.NoError(t, w.WaitPodGone(ctx, name, 2*patience))
	require.NoError(t, w.JoinNode(ctx, scenarios.Near))
	require.NoError(t, w.WaitNode(ctx, scenarios.Near, v1beta2.ConditionTrue, patience))
	require.NoError(t, w.Set(ctx, "node-down-pod-deletion-policy", "do-nothing"))
}

// kubernetesTakesSnapshots lets Kubernetes call snapshot-controller: the API server calls its webhooks for Snapshots, and users
// request a snapshot and a backup of the volume by VolumeSnapshots, which are deleted again.
func kubernetesTakesSnapshots(ctx context.Context, t *testing.T, w *world.World, volume string) {
	t.Helper()
	require.NoError(t, w.AskAboutSnapshots(ctx, w.Process(world.SnapshotController)))
	require.NoError(t, w.VolumeSnapshots(ctx))
	require.NoError(t, w.PersistentVolume(ctx, volume))
	require.NoError(t, w.Claim(ctx, volume))
	for _, kind := range []string{"snap", "bak"} {
		require.NoError(t, w.SnapshotClass(ctx, kind, kind, "Delete"))
		require.NoError(t, w.VolumeSnapshot(ctx, kind, kind, volume))
		now, err := w.WaitVolumeSnapshot(ctx, kind, "to have a handle", patience,
			func(s world.VolumeSnapshotStatus) bool { return s.Handle != "" })
		require.NoError(t, err)
		require.NoError(t, w.DeleteVolumeSnapshot(ctx, kind))
		require.NoError(t, w.WaitVolumeSnapshotGone(ctx, kind, now.Content, patience))
	}
	require.NoError(t, w.RemoveWebhooks(ctx))
}
