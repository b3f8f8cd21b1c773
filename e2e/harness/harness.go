// Package harness has the common parts of the test binaries of e2e: one World for each, and its setup for each test.
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
)

const (
	// sweepTime is how long a World may take to become empty again.
	sweepTime = 10 * time.Minute
	// overload is how many times as long as on a quiet machine a test may take: its deadline only ends one that hangs.
	overload = 4
)

// Main is a TestMain: it starts the World, passes it to the package, runs the tests and ends it.
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

// sources are read within a test: go test does not record files that are read before the first test.
var sources = sync.OnceValue(func() error { return world.Sources(context.Background()) })

// Open returns the context of a test that runs in the World, with a deadline. A test that failed prints the ends of the logs.
func Open(t *testing.T, w *world.World, within time.Duration) context.Context {
	t.Helper()
	require.NoError(t, sources())
	ctx, cancel := context.WithTimeout(t.Context(), w.Stretched(overload*within))
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			// Not to the test's log: that is printed afterwards, so that the failure is the last output.
			w.ShowLogs(os.Stderr, t.Name()+" failed", 60)
		}
	})
	return ctx
}

// Empty is Open in an empty World, which is emptied again when the test ends.
func Empty(t *testing.T, w *world.World, within time.Duration) context.Context {
	t.Helper()
	t.Cleanup(func() { // after what Open does at the end
		clean, done := context.WithTimeout(context.Background(), w.Stretched(sweepTime))
		defer done()
		require.NoError(t, w.Sweep(clean))
	})
	return Open(t, w, within)
}

// DataEngines runs a test for each data engine that Worlds have.
func DataEngines(t *testing.T, f func(*testing.T, string)) {
	for _, engine := range world.DataEngines() {
		t.Run(engine, func(t *testing.T) { f(t, engine) })
	}
}
