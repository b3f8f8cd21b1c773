//go:build !fast

package attach

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// kubernetes sets up a volume that Kubernetes knows: a PersistentVolume, and a claim that is bound to it.
func kubernetes(t *testing.T, engine string) (context.Context, *world.World, string) {
	t.Helper()
	ctx, w := fixture(t)
	t.Cleanup(func() { require.NoError(t, w.NoHarm(context.Background())) })
	name := world.Unique("pvc")
	require.NoError(t, w.Order(ctx, name, engine, 2, nil))
	require.NoError(t, w.PersistentVolume(ctx, name))
	require.NoError(t, w.Claim(ctx, name))
	return ctx, w, name
}

// A13 with the real kube-controller-manager and the simulator: the test replaces only the kubelet.
func TestA13APodsVolumeIsAttachedAndItsEndDetachesIt(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := kubernetes(t, engine)
		require.NoError(t, w.Pod(ctx, name, name, near))
		va, err := w.WaitKubernetesAttached(ctx, name, near, patience)
		require.NoError(t, err)
		require.NoError(t, w.WaitTicket(ctx, name, va.Name, true, v1beta2.ReasonSatisfied, patience), "the ticket is named after it")
		require.NoError(t, w.WaitAttached(ctx, name, near, patience))
		nodes, err := w.EngineNodes(ctx, name)
		require.NoError(t, err)
		require.Equal(t, []string{near}, nodes, "the data plane runs its engine there")
		require.NoError(t, w.WaitReported(ctx, name, near, patience))

		require.NoError(t, w.KillPod(ctx, name))
		require.NoError(t, w.WaitKubernetesDetached(ctx, name, near, patience))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		require.NoError(t, w.Wait(ctx, "the end of the ticket", patience, noTicket(name, va.Name)))
	})
}

func TestA13WhatKeepsAVolumeFromAPodIsInAttachError(t *testing.T) {
	ctx, w, name := kubernetes(t, v1beta2.DataEngineV1)
	require.NoError(t, w.Attach(ctx, name, far, patience))
	require.NoError(t, w.Pod(ctx, name, name, near))
	require.NoError(t, w.WaitKubernetesError(ctx, name, near, "by-hand", patience), "the error names the holder")
	require.NoError(t, w.DropTicket(ctx, name, "by-hand"))
	va, err := w.WaitKubernetesAttached(ctx, name, near, patience)
	require.NoError(t, err)
	require.Nil(t, va.Status.AttachError)
}

// A pod moves off a dead node once a person declares the node out of service.
func TestA13APodMovesOffANodeThatIsOutOfService(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := kubernetes(t, engine)
		require.NoError(t, w.Pod(ctx, name+"-old", name, near))
		_, err := w.WaitKubernetesAttached(ctx, name, near, patience)
		require.NoError(t, err)
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.WaitReported(ctx, name, near, patience))
		require.NoError(t, w.MountOn(ctx, near, name))
		require.NoError(t, w.CutNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionFalse, patience))
		require.NoError(t, w.KillPod(ctx, name+"-old"))
		require.NoError(t, w.Pod(ctx, name+"-new", name, far))
		require.NoError(t, w.OutOfService(ctx, near, true))
		require.NoError(t, w.WaitKubernetesDetached(ctx, name, near, patience))
		_, err = w.WaitKubernetesAttached(ctx, name, far, patience)
		require.NoError(t, err)
		require.NoError(t, w.WaitAttached(ctx, name, far, patience))
		require.NoError(t, w.JoinNode(ctx, near))
		require.NoError(t, w.WaitNode(ctx, near, v1beta2.ConditionTrue, patience))
		require.NoError(t, w.OutOfService(ctx, near, false),
			"the person who declared the node out of service removes the taint when it is up again")
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Wait(ctx, "the end of the old engine", patience, oneEngine(w, name)))
	})
}
