//go:build !fast

package upgrade

import (
	"context"
	"testing"
	"time"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

const patience = 90 * time.Second

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Attach: true, Lease: 8 * time.Second},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// fixture gives a test the World.
func fixture(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	return harness.Open(t, here, 5*time.Minute), here
}
