//go:build !fast

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// O19 with fewer objects: many instances, one in twenty an orphan; they appear, are deleted, and then no write or call
// follows. The full size is the benchmark group scale. [ALL-1]
func TestO19ManyInstancesAndThenNoWriteOrCall(t *testing.T) {
	const instances = 600
	ctx, s := fixture(t)
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "0"))
	stale, err := s.Populate(ctx, instances, 20)
	require.NoError(t, err)
	for _, instance := range stale {
		s.Allow(instance, true)
	}
	require.NoError(t, s.Wait(ctx, "the end of every stale instance", 2*Patience, s.allGone(stale)))
	require.NoError(t, s.Wait(ctx, "the end of all orphans", Patience, s.NoOrphans))
	require.NoError(t, s.Invariants(ctx))

	require.NoError(t, s.Quiet(ctx, Patience))
	s.API.Reset()
	s.DataPlane.Reset()
	require.NoError(t, s.Never(ctx, "a write or a call", 5*time.Second, s.noise))
}
