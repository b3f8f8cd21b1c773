package attach

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

// watching is how long a test watches that nothing happens.
const watching = 3 * time.Second

// here is the one World of this test binary; every test leaves it empty.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Kubernetes: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// fixture gives a test an empty World, and empties it again at the end.
func fixture(t *testing.T) (context.Context, *world.World) {
	t.Helper()
	return harness.Empty(t, here, 4*time.Minute), here
}

// disableFrontend are the parameters of a ticket that wants no frontend.
var disableFrontend = map[string]string{v1beta2.TicketDisableFrontend: v1beta2.TicketValueTrue}

// TestScenarios runs each scenario once, without failures. [ATT-1, ATT-2]
func TestScenarios(t *testing.T) {
	for _, scenario := range Scenarios() {
		t.Run(scenario.ID+" "+scenario.Sentence, func(t *testing.T) {
			ctx, w := fixture(t)
			_, err := scenario.Run(ctx, w, nil)
			require.NoError(t, err)
		})
	}
}
