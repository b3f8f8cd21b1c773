//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The scenarios of this file are incidents that users of other storage systems reported.

// B1: the kubelets of both nodes of a live migration restart. Neither side ends, and no replica fails.
func TestB1KubeletsThatRestartEndNoMigration(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, name := guest(t, engine)
		bothSides(t, ctx, w, name)
		kubelets := func(ctx context.Context, ready bool) {
			for _, node := range []string{near, far} {
				require.NoError(t, w.SetKubeletReady(ctx, node, ready))
			}
		}
		t.Cleanup(func() { kubelets(context.WithoutCancel(ctx), true) })
		kubelets(ctx, false)
		require.NoError(t, w.Never(ctx, "the end of a side", watching, func(ctx context.Context) (string, error) {
			if changed, err := enginesOn(w, name, near, far)(ctx); changed != "" || err != nil {
				return changed, err
			}
			return failedReplica(ctx, w, name)
		}))
		require.NoError(t, w.WriteFrom(ctx, name, near, 1, "third"))
		kubelets(ctx, true)
		require.NoError(t, w.DropTicket(ctx, name, source))
		settledOn(t, ctx, w, name, target, far, "third")
	})
}

// failedReplica names a replica of the volume that is marked as failed; empty if there is none.
func failedReplica(ctx context.Context, w *world.World, volume string) (string, error) {
	replicas, err := w.ReplicasOf(ctx, volume)
	for _, r := range replicas {
		if r.Spec.FailedAt != "" {
			return "replica " + r.Name + " on " + r.Spec.NodeID + " failed", nil
		}
	}
	return "", err
}

// B6: the nodes of the only two replicas of a volume are cordoned before the first of them is drained. The first is emptied at once; the
// second keeps its replica until the first takes pods again.
func TestB6TwoCordonedNodesDoNotWaitForEachOther(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		nodes, err := w.ReplicaNodes(ctx, name)
		require.NoError(t, err)
		require.Len(t, nodes, 2)
		require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		first, second := min(nodes[0], nodes[1]), max(nodes[0], nodes[1])
		cordon(t, ctx, w, first)
		cordon(t, ctx, w, second)
		kept, err := w.ReplicaOn(ctx, name, second)
		require.NoError(t, err)
		other, err := w.ReplicaOn(ctx, name, first)
		require.NoError(t, err)
		evicted(t, ctx, w, first, engine)
		protects(t, ctx, w, second, engine, "Replica "+kept.Name+" on node "+second+" may be the last one of volume "+name+": replica "+
			other.Name+" is on node "+first+", which is cordoned as well and is emptied first. Uncordon node "+first+
			", or wait until the volume has another replica; block-if-contains-last-replica waits for one.")
		require.NoError(t, w.Cordon(ctx, first, false))
		evicted(t, ctx, w, second, engine)
		require.NoError(t, w.Cordon(ctx, second, false))
		require.NoError(t, w.Attach(ctx, name, near, patience))
		unharmed(t, ctx, w, name, 1, "first")
		require.NoError(t, w.LetGo(ctx, name, patience))
	})
}

// B7: each rebuild of a volume fails. The next ones come after growing pauses, on more than one node, and the volume reports why; once
// rebuilds succeed again, the volume becomes healthy by itself.
func TestB7RebuildsThatFailSlowDown(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "error", Code: "Internal", Method: "ReplicaAdd"}))
		require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
		var failures *v1beta2.RebuildFailures
		require.NoError(t, w.WaitVolume(ctx, name, "failed rebuilds that wait", patience, func(v *v1beta2.Volume) string {
			failures = v.Status.RebuildFailures
			if failures == nil || failures.Count < 3 {
				return fmt.Sprintf("it counts %+v", failures)
			}
			if is := conditions.Reason(v.Status.Conditions, v1beta2.VolumeScheduled); is != v1beta2.ReasonRebuildFails {
				return "its reason is " + is
			}
			return ""
		}))
		last, err := time.Parse(time.RFC3339, failures.LastFailedAt)
		require.NoError(t, err)
		next, err := time.Parse(time.RFC3339Nano, failures.NextAttemptAt)
		require.NoError(t, err)
		require.GreaterOrEqual(t, next.Sub(last), 10*time.Second, "the pause after %d failures", failures.Count)
		require.NoError(t, w.Write(ctx, name, 2, "with one replica"))
		require.NoError(t, w.Heal(ctx))
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 2, "with one replica")
		require.NoError(t, w.WaitVolume(ctx, name, "no failure that counts", patience, func(v *v1beta2.Volume) string {
			if v.Status.RebuildFailures != nil {
				return fmt.Sprintf("it counts %+v", v.Status.RebuildFailures)
			}
			return ""
		}))
	})
}
