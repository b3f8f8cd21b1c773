package backup

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near     = scenarios.Near
	far      = scenarios.Far
	patience = scenarios.Patience
)

// here is the one World of this test binary; every test leaves it empty.
var here *world.World

// whileDetached is the setting that lets recurring jobs attach detached volumes.
const whileDetached = "allow-recurring-job-while-volume-detached"

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Snapshots: true, Lease: 8 * time.Second},
		func(ctx context.Context, w *world.World) error { here = w; return w.Set(ctx, whileDetached, "true") })
}

// fixture gives a test an empty World, and empties it again at the end.
func fixture(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	return harness.Empty(t, here, 4*time.Minute), here
}

// volume creates a volume with two replicas and attaches it.
func volume(t *testing.T, ctx context.Context, engine string) string {
	t.Helper()
	name := world.Unique("vol")
	require.NoError(t, here.Order(ctx, name, engine, 2, nil))
	require.NoError(t, here.Ticket(ctx, name, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, here.WaitAttached(ctx, name, near, patience))
	return name
}

// calls counts the calls of a method at the engines of the volume.
func calls(t *testing.T, ctx context.Context, volume, method string) int {
	t.Helper()
	count, err := here.EngineCalls(ctx, volume, method)
	require.NoError(t, err)
	return count
}

// ready waits until the snapshot can be used.
func ready(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	require.NoError(t, here.WaitSnapshot(ctx, name, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))
}
