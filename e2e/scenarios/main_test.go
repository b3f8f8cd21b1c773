package scenarios

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// here is the one World of this test binary; every test leaves it as empty as it found it.
var here *world.World

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	w, err := world.Start(context.Background(), world.Options{Nodes: Nodes, Record: true, Lease: 4 * time.Second})
	if err != nil {
		return 1, err
	}
	here = w
	code := m.Run()
	return code, w.Close()
}

// stage gives a test an empty World, and empties it again at the end. A test that failed shows the logs' ends.
func stage(t *testing.T) (context.Context, *Scene) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	scene := &Scene{World: here, MayStay: map[string]bool{}}
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			for _, name := range []string{world.IMMonitor, world.OrphanController} {
				t.Logf("the log of %s ends:\n%s", name, here.Process(name).Tail(30))
			}
		}
		clean, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		require.NoError(t, here.Sweep(clean))
	})
	return ctx, scene
}

// staleOf makes a v1 or v2 volume near and far, disowns its near instances and waits for their orphans.
func staleOf(t *testing.T, ctx context.Context, s *Scene, dataEngine string) []world.Stale {
	t.Helper()
	v, err := s.CreateVolume(ctx, unique("vol"), dataEngine, Near, Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.WaitOwners(ctx, Patience))
	require.NoError(t, s.disownNear(ctx, v))
	for _, stale := range s.Stale {
		_, err := s.WaitOrphan(ctx, stale, Patience)
		require.NoError(t, err)
	}
	return s.Stale
}

// none fails when an Orphan is there within the time.
func none(t *testing.T, ctx context.Context, s *Scene, during time.Duration) {
	t.Helper()
	require.NoError(t, s.Never(ctx, "an orphan", during, s.NoOrphans))
}

// dataEngines runs a test for both.
func dataEngines(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}
