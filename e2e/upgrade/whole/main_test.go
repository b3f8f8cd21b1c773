package whole

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

const patience = 120 * time.Second

// here is the one World of this test binary.
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
	w, err := world.Start(context.Background(), world.Options{Nodes: scenarios.Nodes, Attach: true, Snapshots: true, Upgrades: true})
	if err != nil {
		return 1, err
	}
	here = w
	code := m.Run()
	return code, w.Close()
}

// stage gives a test the World. A test that failed shows the logs' ends.
func stage(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			for _, name := range here.Controllers() {
				t.Logf("the log of %s ends:\n%s", name, here.Process(name).Tail(60))
			}
		}
	})
	return ctx, here
}
