package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// limited lets a volume have so many snapshots.
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

// S3: what a volume may have reaches the engine that runs, which reports it.
func TestALimitReachesARunningEngine(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := stage(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		limited(t, ctx, w, name, 2)
		limited(t, ctx, w, name, 3)
	})
}
