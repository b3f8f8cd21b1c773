//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
)

// cordon keeps pods from a node for the rest of the test.
func cordon(t *testing.T, ctx context.Context, w *world.World, node string) {
	t.Helper()
	require.NoError(t, w.Cordon(ctx, node, true))
	t.Cleanup(func() { require.NoError(t, w.Cordon(context.WithoutCancel(ctx), node, false)) })
}

// protects waits until the budget of the node's instance manager names what it protects, and an eviction is refused.
func protects(t *testing.T, ctx context.Context, w *world.World, node, engine, what string) {
	t.Helper()
	name := w.InstanceManager(node, engine)
	require.NoError(t, w.Wait(ctx, "the budget of "+name+" to protect "+what, patience, func(ctx context.Context) (string, error) {
		budget := &policyv1.PodDisruptionBudget{}
		if err := w.Get(ctx, name, budget); err != nil {
			return "", err
		}
		if protects := budget.Annotations["drover.dev/protects"]; protects != what {
			return "its annotation is " + protects, nil
		}
		return "", nil
	}))
	refused, err := w.EvictManager(ctx, node, engine)
	require.NoError(t, err)
	require.Contains(t, refused, "disruption budget")
}

// evicted waits until Kubernetes takes the pod of the node's instance manager.
func evicted(t *testing.T, ctx context.Context, w *world.World, node, engine string) {
	t.Helper()
	require.NoError(t, w.Wait(ctx, "the eviction of the instance manager of "+node, patience, func(ctx context.Context) (string, error) {
		return w.EvictManager(ctx, node, engine)
	}))
}

// A25: a drain evicts an instance manager as soon as nothing on the node needs it, and not before.
func TestADrainWaitsForEnginesAndForTheLastReplica(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 3, nil)
		cordon(t, ctx, w, near)
		runs := "Engine " + name + "-e-0 runs on node " + near + "."
		protects(t, ctx, w, near, engine, runs)
		require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
		evicted(t, ctx, w, near, engine)
		require.NoError(t, w.Attach(ctx, name, far, patience))
		unharmed(t, ctx, w, name, 1, "first")
		require.NoError(t, w.LetGo(ctx, name, patience))
		require.NoError(t, w.Cordon(ctx, near, false))

		single := inUse(t, ctx, w, engine, 1, nil)
		replicas, err := w.ReplicasOf(ctx, single)
		require.NoError(t, err)
		require.Len(t, replicas, 1)
		node := replicas[0].Spec.NodeID
		require.NoError(t, w.DropTicket(ctx, single, "csi-pod"))
		require.NoError(t, w.WaitDetached(ctx, single, patience))
		cordon(t, ctx, w, node)
		protects(t, ctx, w, node, engine, "Replica "+replicas[0].Name+" on node "+node+" may be the last one of volume "+single+
			": none elsewhere is whole, on a node that takes pods, and in an instance manager with a budget; "+
			"block-if-contains-last-replica waits for one.")
		require.NoError(t, w.DeleteVolume(ctx, single))
		evicted(t, ctx, w, node, engine)
	})
}

// A25: under a policy for evictions the last replica leaves a cordoned node by itself, although its volume is detached, and the drain goes
// on.
func TestADrainUnderAPolicyForEvictionsEndsByItself(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		set(t, ctx, w, "node-drain-policy", "block-for-eviction-if-contains-last-replica", "block-if-contains-last-replica")
		name := inUse(t, ctx, w, engine, 1, nil)
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.Len(t, replicas, 1)
		left := replicas[0].Spec.NodeID
		require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		cordon(t, ctx, w, left)
		evicted(t, ctx, w, left, engine)
		require.NoError(t, w.Wait(ctx, "the replica on "+left+" to go", patience, func(ctx context.Context) (string, error) {
			if replicas, err = w.ReplicasOf(ctx, name); err != nil || len(replicas) == 1 {
				return "", err
			}
			return fmt.Sprintf("there are %d replicas", len(replicas)), nil
		}))
		require.NotEqual(t, left, replicas[0].Spec.NodeID)
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		require.NoError(t, w.Attach(ctx, name, replicas[0].Spec.NodeID, patience))
		unharmed(t, ctx, w, name, 1, "first")
		require.NoError(t, w.LetGo(ctx, name, patience))
	})
}
