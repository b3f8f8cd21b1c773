package rights

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/attach"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// While volumes are attached, interrupted, moved and rebuilt, no controller asks for what its Role does not give.
func TestTheRolesAllowWhatAttachingNeeds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	w, err := world.Start(ctx, world.Options{Nodes: scenarios.Nodes, Audit: true, Attach: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })

	for _, story := range attach.Stories() {
		_, err := story.Tell(ctx, w, nil)
		require.NoError(t, err, story.ID)
	}
	requests, err := w.Audited()
	require.NoError(t, err)
	asked := map[string]int{}
	for _, request := range requests {
		for _, binary := range w.Controllers() {
			if !strings.HasSuffix(request.User, ":"+binary) {
				continue
			}
			asked[binary]++
			require.NotEqual(t, http.StatusForbidden, request.Code, "%s may not %s %s %s", binary, request.Verb, request.Resource, request.Name)
		}
	}
	for _, binary := range w.Controllers() {
		require.NotZero(t, asked[binary], "%s asked for nothing", binary)
	}
}
