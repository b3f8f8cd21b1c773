package backup

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near     = scenarios.Near
	far      = scenarios.Far
	patience = scenarios.Patience
)

var counter atomic.Int64

func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }

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
	w, err := world.Start(context.Background(), world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Snapshots: true, Lease: 8 * time.Second})
	if err != nil {
		return 1, err
	}
	here = w
	code := m.Run()
	return code, w.Close()
}

// stage gives a test an empty World, and empties it again at the end. A test that failed shows the logs' ends.
func stage(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			for _, name := range here.Controllers() {
				t.Logf("the log of %s ends:\n%s", name, here.Process(name).Tail(40))
			}
		}
		clean, done := context.WithTimeout(context.Background(), 2*time.Minute)
		defer done()
		require.NoError(t, here.Sweep(clean))
	})
	return ctx, here
}

// dataEngines runs a test for both.
func dataEngines(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}

// volume makes a volume with two replicas and attaches it.
func volume(t *testing.T, ctx context.Context, engine string) string {
	t.Helper()
	name := unique("vol")
	require.NoError(t, here.Order(ctx, name, engine, 2, nil))
	require.NoError(t, here.Ticket(ctx, name, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, here.WaitAttached(ctx, name, near, patience))
	return name
}

// calls tells how often an engine of the volume did something.
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
