package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
)

// here is the one World of this test binary; every test leaves it empty.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: Nodes, Record: true, Lease: 4 * time.Second},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// fixture gives a test an empty World, and empties it again at the end.
func fixture(t *testing.T) (context.Context, *Scene) {
	t.Helper()
	return harness.Empty(t, here, 4*time.Minute), &Scene{World: here, MayStay: map[string]bool{}}
}

// staleOf creates a v1 or v2 volume near and far, disowns its near instances and waits for their orphans.
func staleOf(t *testing.T, ctx context.Context, s *Scene, dataEngine string) []world.Stale {
	t.Helper()
	v, err := s.CreateVolume(ctx, world.Unique("vol"), dataEngine, Near, Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.WaitOwners(ctx, Patience))
	require.NoError(t, s.disownNear(ctx, v))
	for _, stale := range s.Stale {
		_, err := s.WaitOrphan(ctx, stale, Patience)
		require.NoError(t, err)
	}
	return s.Stale
}

// none fails when an Orphan appears within the time.
func none(t *testing.T, ctx context.Context, s *Scene, during time.Duration) {
	t.Helper()
	require.NoError(t, s.Never(ctx, "an orphan", during, s.NoOrphans))
}
