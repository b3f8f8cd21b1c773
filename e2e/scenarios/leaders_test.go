//go:build !fast

package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O17: two leaders for a moment; the old one is paused in the middle of a deletion, and its call arrives late: the deletion is
// executed once, and never on another instance. [ORP-3]
func TestO17AnOldLeaderThatResumesDuringADeletionDeletesNothingElse(t *testing.T) {
	ctx, s := fixture(t)
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)[0]
	s.Allow(stale, true)
	old := s.Process(world.IMMonitor)
	frozen, resumed := make(chan error, 1), make(chan struct{})
	s.Sequence.Reset(func(step record.Step) bool { return strings.HasPrefix(step.What, "InstanceDelete") })
	s.Sequence.CutAt(1, record.Before, func(record.Step) record.Verdict {
		frozen <- old.Pause()
		<-resumed
		return record.Pass
	})
	defer s.Sequence.Reset(nil)
	standby, err := s.StartController(ctx, world.IMMonitor, "-standby")
	require.NoError(t, err)

	require.NoError(t, s.DeleteOrphan(ctx, stale.Orphan()))
	require.NoError(t, <-frozen)
	require.NoError(t, s.WaitOrphanGone(ctx, stale.Orphan(), Patience), "the new leader does it")
	// The name is used again before the old call arrives.
	fresh, err := s.StartInstance(ctx, world.Instance{InstanceManager: stale.InstanceManager, Name: stale.Name, Type: stale.Type,
		DataEngine: stale.DataEngine})
	require.NoError(t, err)
	require.NotEqual(t, stale.UUID, fresh.UUID)
	holder, err := s.LeaseHolder(ctx, world.IMMonitor)
	require.NoError(t, err)
	close(resumed)
	require.NoError(t, old.Resume())
	select {
	case <-old.Done():
	case <-time.After(Patience):
		t.Fatal("the old leader did not notice that it had lost its lease")
	}
	now, err := s.LeaseHolder(ctx, world.IMMonitor)
	require.NoError(t, err)
	require.Equal(t, holder, now, "the old leader must not release the lease")
	require.NoError(t, s.Runs(ctx, stale.InstanceManager, stale.Name))
	counts, err := s.EffectiveDeletions(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]int{stale.UUID: 1}, counts)

	require.NoError(t, old.Restart())
	require.NoError(t, s.Remove(standby))
}

// O17: a leader that stops gracefully releases the lease; the next one continues the work.
func TestO17ALeaderThatStopsReleasesItsLease(t *testing.T) {
	ctx, s := fixture(t)
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)[0]
	s.Allow(stale, true)
	for _, name := range []string{world.IMMonitor, world.OrphanController} {
		process := s.Process(name)
		require.NoError(t, process.Stop())
		require.NoError(t, process.Restart())
	}
	require.NoError(t, s.DeleteOrphan(ctx, stale.Orphan()))
	require.NoError(t, s.WaitOrphanGone(ctx, stale.Orphan(), Patience))
	require.NoError(t, s.Gone(ctx, stale))
}
