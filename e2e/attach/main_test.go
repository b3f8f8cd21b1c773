package attach

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// watching is how long a test watches that nothing happens.
const watching = 3 * time.Second

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
	w, err := world.Start(context.Background(), world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Kubernetes: true})
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

// disableFrontend are the parameters of a ticket that wants no frontend.
var disableFrontend = map[string]string{v1beta2.TicketDisableFrontend: v1beta2.TicketValueTrue}

// TestStories tells each Story once, undisturbed. [ATT-1, ATT-2]
func TestStories(t *testing.T) {
	for _, story := range Stories() {
		t.Run(story.ID+" "+story.Sentence, func(t *testing.T) {
			ctx, w := stage(t)
			_, err := story.Tell(ctx, w, nil)
			require.NoError(t, err)
		})
	}
}
