//go:build !fast

package attach

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	statefulSet               = "StatefulSet"
	nodeDown, nodeDownDefault = "node-down-pod-deletion-policy", "do-nothing"
	spared                    = "blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly"
)

// runs creates a pod of a StatefulSet near, and waits until its volume is healthy and mounted.
func runs(t *testing.T, ctx context.Context, w *world.World, pod, volume string) {
	t.Helper()
	require.NoError(t, w.ControlledPod(ctx, pod, statefulSet, volume, near))
	_, err := w.WaitKubernetesAttached(ctx, volume, near, patience)
	require.NoError(t, err)
	require.NoError(t, w.WaitRobust(ctx, volume, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WaitReported(ctx, volume, near, patience))
	require.NoError(t, w.MountOn(ctx, near, volume))
	require.NoError(t, w.Write(ctx, volume, 1, "first"))
}

// kept returns a text once a pod is being deleted, or gone.
func kept(w *world.World, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		pod, err := w.PodNow(ctx, name)
		if err == nil && (pod == nil || pod.DeletionTimestamp != nil) {
			return "it is deleted", nil
		}
		return "", err
	}
}

// A24: the engine dies under a pod. The volume is back on the same node soon, the pod's mount is not: its controller creates another pod.
func TestA24APodIsDeletedWhoseEngineDiedUnderIt(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := kubernetes(t, engine)
		runs(t, ctx, w, name, name)
		require.NoError(t, w.ControlledPod(ctx, name+"-spared", "DaemonSet", name, near))
		set(t, ctx, w, spared, "apps/DaemonSet", "")
		require.NoError(t, w.Never(ctx, "its deletion", watching, kept(w, name)))
		require.NoError(t, w.KillEngine(ctx, name, near))
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "Faulted", patience))
		var pod *corev1.Pod
		require.NoError(t, w.Wait(ctx, "the deletion of the pod", patience, func(ctx context.Context) (_ string, err error) {
			if pod, err = w.PodNow(ctx, name); err == nil && pod.DeletionTimestamp == nil {
				return "it is not deleted yet", nil
			}
			return "", err
		}))
		require.EqualValues(t, 30, *pod.DeletionGracePeriodSeconds)
		require.NoError(t, w.Wait(ctx, "the event about the deletion", patience, func(ctx context.Context) (string, error) {
			reported, err := w.PodReported(ctx, name, "PodDeleted")
			return map[bool]string{false: "there is no event yet"}[reported], err
		}))
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "PodDeleted", patience))
		require.NoError(t, w.KillPod(ctx, name), "its kubelet ends it")
		require.NoError(t, w.ControlledPod(ctx, name, statefulSet, name, near))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		for _, stays := range []string{name, name + "-spared"} {
			require.NoError(t, w.Never(ctx, "the deletion of "+stays, watching, kept(w, stays)))
		}
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// A24: a node dies under a pod of a StatefulSet, which Kubernetes evicts. No person declares the node out of service; the next pod gets the
// volume.
func TestA24APodIsEndedOnANodeThatIsDown(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := kubernetes(t, engine)
		set(t, ctx, w, nodeDown, "delete-both-statefulset-and-deployment-pod", nodeDownDefault)
		runs(t, ctx, w, name, name)
		require.NoError(t, w.EndPod(ctx, name))
		require.NoError(t, w.Never(ctx, "its end", watching, func(ctx context.Context) (string, error) {
			pod, err := w.PodNow(ctx, name)
			return map[bool]string{true: "it is gone"}[pod == nil], err
		}), "its node is up")
		require.NoError(t, w.CutNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionFalse, patience))
		require.NoError(t, w.WaitPodGone(ctx, name, patience))
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "PodForceDeleted", patience))
		require.NoError(t, w.WaitVolumeEvent(ctx, name, "AttachmentDeleted", patience))
		require.NoError(t, w.ControlledPod(ctx, name, statefulSet, name, far))
		_, err := w.WaitKubernetesAttached(ctx, name, far, 2*patience)
		require.NoError(t, err)
		require.NoError(t, w.WaitAttached(ctx, name, far, patience))
		require.NoError(t, w.JoinNode(ctx, near))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		unharmed(t, ctx, w, name, 1, "first")
	})
}

// A24: a person deletes the pod of a dead node by force. Kubernetes alone would wait for 6 minutes, as the kubelet may still have the
// volume mounted.
func TestA24AVolumeIsFreedOnceItsPodIsDeletedByForce(t *testing.T) {
	ctx, w, name := kubernetes(t, v1beta2.DataEngineV1)
	runs(t, ctx, w, name+"-old", name)
	require.NoError(t, w.CutNode(ctx, near))
	require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionFalse, patience))
	require.NoError(t, w.Pod(ctx, name+"-new", name, far))
	attached := func(ctx context.Context) (string, error) {
		list, err := w.AttachmentsOf(ctx, name)
		for _, a := range list {
			if a.Spec.NodeName == near && a.DeletionTimestamp == nil {
				return "", err
			}
		}
		return "it is deleted", err
	}
	require.NoError(t, w.Never(ctx, "the deletion of its VolumeAttachment", watching, attached), "a pod there may use it")
	require.NoError(t, w.KillPod(ctx, name+"-old"))
	require.NoError(t, w.WaitVolumeEvent(ctx, name, "AttachmentDeleted", patience))
	_, err := w.WaitKubernetesAttached(ctx, name, far, 2*patience)
	require.NoError(t, err)
	require.NoError(t, w.WaitAttached(ctx, name, far, patience))
	require.NoError(t, w.JoinNode(ctx, near))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	unharmed(t, ctx, w, name, 1, "first")
}
