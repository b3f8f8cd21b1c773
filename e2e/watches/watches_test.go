//go:build !fast

package watches

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// The time for which watches are refused before requests are counted, and the time of counting.
const (
	settle  = 10 * time.Second
	counted = 20 * time.Second
)

// perSecond is how many lists and watches of one kind of objects a controller may send in a second. A pause of client-go begins with
// 0.8 s and grows to 30 s, for each of a few informers of a kind.
const perSecond = 2

// most is the least number of open watches of the controllers: two thirds of the number when this was written.
const most = 60

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Record: true, Attach: true, Snapshots: true, Upgrades: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// An API server ends every watch, also one that streams the initial state: clients retry after a growing pause, not at once;
// once the API server keeps watches again, each is open again.
func TestRefusedWatchesAreRetriedAfterAPause(t *testing.T) {
	ctx := harness.Open(t, here, 10*time.Minute)
	open := func(least int) func(context.Context) (string, error) {
		return func(context.Context) (string, error) {
			if now := here.API.OpenWatches(); now < least {
				return fmt.Sprintf("%d of %d are", now, least), nil
			}
			return "", nil
		}
	}
	require.NoError(t, here.Wait(ctx, "watches to be open", time.Minute, open(most)))
	before := here.API.OpenWatches()
	type kind struct{ user, group, resource string }
	atMost := perSecond * int(counted/time.Second)
	for _, refusal := range []record.Refusal{record.RefuseGone, record.RefuseExpired, record.RefuseEnd} {
		here.API.RefuseWatches(refusal)
		pause(ctx, t, settle)
		here.API.Reset()
		pause(ctx, t, counted)
		all, of := 0, map[kind]int{}
		for r, n := range here.API.Counts().All() {
			all += n
			if r.Verb == "watch" || r.Verb == "list" {
				of[kind{r.User, r.Group, r.Resource}] += n
			}
		}
		t.Logf("%s: %d requests in %s of %d watches", refusal, all, counted, before)
		for k, n := range of {
			assert.LessOrEqual(t, n, atMost, "%s: %s asked for %s", refusal, k.user, k.resource)
		}
	}
	here.API.AllowWatches()
	require.NoError(t, here.Wait(ctx, "all watches to be open again", 3*time.Minute, open(before)))
}

func pause(ctx context.Context, t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-ctx.Done():
		require.NoError(t, ctx.Err())
	case <-time.After(d):
	}
}
