// Package harness is what the test binaries of e2e have in common: one World for each, and what every test wants of it.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// sweepTime is how long a World may take to become empty again.
const sweepTime = 2 * time.Minute

// Main is a TestMain: it starts the World, hands it over, runs the tests and ends it.
func Main(m *testing.M, options world.Options, use func(context.Context, *world.World) error) {
	code, err := run(m, options, use)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M, options world.Options, use func(context.Context, *world.World) error) (int, error) {
	ctx := context.Background()
	w, err := world.Start(ctx, options)
	if err != nil {
		return 1, err
	}
	if err := use(ctx, w); err != nil {
		return 1, errors.Join(err, w.Close())
	}
	code := m.Run()
	return code, w.Close()
}

// sources are looked at within a test: go test hears nothing of what comes before the first.
var sources = sync.OnceValue(func() error { return world.Sources(context.Background()) })

// Open is the context of a test that is told in the World and may take so long. A test that failed shows the logs' ends.
func Open(t *testing.T, w *world.World, within time.Duration) context.Context {
	t.Helper()
	require.NoError(t, sources())
	ctx, cancel := context.WithTimeout(t.Context(), w.Stretched(within))
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			// Not to the test's own log: that is printed afterwards, so that what failed stands last.
			w.ShowLogs(os.Stderr, t.Name()+" failed", 60)
		}
	})
	return ctx
}

// Empty is Open in a World that is empty, and is emptied again when the test ends.
func Empty(t *testing.T, w *world.World, within time.Duration) context.Context {
	t.Helper()
	t.Cleanup(func() { // after what Open does at the end
		clean, done := context.WithTimeout(context.Background(), w.Stretched(sweepTime))
		defer done()
		require.NoError(t, w.Sweep(clean))
	})
	return Open(t, w, within)
}

// DataEngines runs a test for both.
func DataEngines(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}
