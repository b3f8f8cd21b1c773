//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const cleanup, cleanupDefault = "auto-cleanup-system-generated-snapshot", "true"

// limited sets how many snapshots a volume may have.
func limited(t *testing.T, ctx context.Context, w *world.World, name string, count int) {
	t.Helper()
	v := &v1beta2.Volume{}
	require.NoError(t, w.Get(ctx, name, v))
	require.NoError(t, w.Patch(ctx, v, map[string]any{"spec": map[string]any{"snapshotMaxCount": count}}))
	what := fmt.Sprintf("the engine of %s to take %d snapshots", name, count)
	require.NoError(t, w.Wait(ctx, what, patience, func(ctx context.Context) (string, error) {
		var list v1beta2.EngineList
		err := w.List(ctx, &list)
		for _, e := range list.Items {
			if e.Spec.VolumeName == name && e.Status.SnapshotMaxCount != count {
				return fmt.Sprintf("it takes %d", e.Status.SnapshotMaxCount), err
			}
		}
		return "", err
	}))
}

// S3: the snapshot limit of a volume reaches the running engine, which reports it.
func TestALimitReachesARunningEngine(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		limited(t, ctx, w, name, 2)
		limited(t, ctx, w, name, 3)
	})
}

// S1: a rebuild takes a snapshot, which an engine at its limit refuses. Snapshots that earlier rebuilds left are removed to make room.
func TestARebuildAtTheSnapshotLimit(t *testing.T) {
	ctx, w := fixture(t)
	set(t, ctx, w, cleanup, "false", cleanupDefault)
	name := inUse(t, ctx, w, v1beta2.DataEngineV1, 2, nil)
	lose := func() {
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
	}
	lose()
	wellAgain(t, ctx, w, name)
	require.NoError(t, w.SaveSnapshot(ctx, name, "user"))
	limited(t, ctx, w, name, 2)
	lose()
	require.NoError(t, w.WaitEvent(ctx, "RebuildAtSnapshotLimit", patience))
	require.NoError(t, w.Write(ctx, name, 2, "while it is rebuilt"))
	require.NoError(t, w.Set(ctx, cleanup, cleanupDefault))
	wellAgain(t, ctx, w, name)
	whole(t, ctx, w, name)
}

// R4: an expansion that an engine accepts and does not carry out is reported, and does not keep a person from moving the volume.
func TestAnExpansionThatFailsSilently(t *testing.T) {
	ctx, w := fixture(t)
	name := inUse(t, ctx, w, v1beta2.DataEngineV1, 2, nil)
	for _, text := range []string{"one", "two"} {
		require.NoError(t, w.SaveSnapshot(ctx, name, text))
	}
	limited(t, ctx, w, name, 2)
	v := &v1beta2.Volume{}
	require.NoError(t, w.Get(ctx, name, v))
	bigger := 2 * v.Spec.Size
	require.NoError(t, w.Grow(ctx, name, bigger))
	require.NoError(t, w.WaitVolume(ctx, name, "to report that it has not grown", patience, func(v *v1beta2.Volume) string {
		if conditions.Reason(v.Status.Conditions, v1beta2.VolumeExpanded) == v1beta2.ReasonExpansionFailed {
			return ""
		}
		return fmt.Sprintf("it reports %v", v.Status.Conditions)
	}))
	require.NoError(t, w.Ticket(ctx, name, "csi-next", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-next", true, "", patience), "it moves")
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	unharmed(t, ctx, w, name, 1, "first")
	limited(t, ctx, w, name, 5)
	grown(t, ctx, w, name, "csi-next", far, bigger)
	require.NoError(t, w.WaitVolume(ctx, name, "to report that it has grown", patience, func(v *v1beta2.Volume) string {
		if conditions.IsTrue(v.Status.Conditions, v1beta2.VolumeExpanded) {
			return ""
		}
		return "it does not"
	}))
	unharmed(t, ctx, w, name, 1, "first")
}
