//go:build !fast

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O16: with any failure of the instance manager, no claimed instance is deleted and no orphan is lost. [unknown is not empty]
func TestO16FailuresOfAnInstanceManagerKeepOrphansAndClaimedInstances(t *testing.T) {
	for _, failure := range []struct {
		sentence string
		fault    world.Fault
	}{
		{"it hangs", world.Fault{Kind: "hang", Node: Near}},
		{"its connection is closed", world.Fault{Kind: "partition", Mode: "cut", Node: Near}},
		{"nothing comes through", world.Fault{Kind: "partition", Mode: "blackhole", Node: Near}},
		{"it answers late", world.Fault{Kind: "latency", Node: Near, Delay: "800ms"}},
		{"its events are duplicated", world.Fault{Kind: "events", Mode: "duplicate", Node: Near}},
		{"its events are late", world.Fault{Kind: "events", Mode: "delay", Delay: "1s", Node: Near}},
		{"its lists fail", world.Fault{Kind: "error", Method: "InstanceList", Code: "Internal", Node: Near}},
	} {
		t.Run(failure.sentence, func(t *testing.T) {
			ctx, s := fixture(t)
			require.NoError(t, s.SetAutoDeletion(ctx, "", "0"))
			stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
			kept, err := s.CreateVolume(ctx, world.Unique("kept"), world.FullDataEngine(), Near, Near, Far)
			require.NoError(t, err)
			require.NoError(t, s.Inject(ctx, failure.fault))
			require.NoError(t, s.Never(ctx, "a withdrawal", staleTime, s.lostOrphan(stale)))
			require.NoError(t, s.Heal(ctx))
			for _, instance := range stale {
				_, err := s.WaitOrphan(ctx, instance, Patience)
				require.NoError(t, err)
				s.MayStay[instance.Orphan()] = true
			}
			require.NoError(t, s.OrphansAre(ctx, stale))
			require.NoError(t, s.Whole(ctx, kept))
			require.NoError(t, s.Invariants(ctx))
		})
	}
}

// O16: a server restarts. v1 processes end with it; v2 data stays, but is not listed for a while.
func TestO16ARestartEndsV1ProcessesAndKeepsV2Data(t *testing.T) {
	t.Run("v1", func(t *testing.T) {
		ctx, s := fixture(t)
		stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
		require.NoError(t, s.RestartManager(ctx, Near, v1beta2.DataEngineV1))
		for _, instance := range stale {
			require.NoError(t, s.WaitOrphanGone(ctx, instance.Orphan(), Patience), "its instance is gone: withdrawn")
		}
		require.NoError(t, s.Invariants(ctx))
	})
	t.Run("v2", func(t *testing.T) {
		ctx, s := fixture(t)
		stale := staleOf(t, ctx, s, v1beta2.DataEngineV2)
		engine, replica := stale[0], stale[1]
		require.Equal(t, v1beta2.InstanceTypeReplica, replica.Type)
		require.NoError(t, s.RestartManager(ctx, Near, v1beta2.DataEngineV2))
		require.NoError(t, s.WaitOrphanGone(ctx, engine.Orphan(), Patience), "the RAID bdev is gone")
		require.NoError(t, s.Never(ctx, "the loss of the replica's orphan", staleTime, s.lostOrphan([]world.Stale{replica})))
		require.NoError(t, s.WaitCondition(ctx, replica.Orphan(), v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonDataOnly,
			Patience))
		s.MayStay[replica.Orphan()] = true
		require.NoError(t, s.Invariants(ctx))
	})
}

// O16: a new pod replaces the old one, perhaps with the same address.
func TestO16AReplacedPodIsAnotherEpoch(t *testing.T) {
	ctx, s := fixture(t)
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
	require.NoError(t, s.ReplacePod(ctx, Near, v1beta2.DataEngineV1))
	for _, instance := range stale {
		require.NoError(t, s.WaitOrphanGone(ctx, instance.Orphan(), 2*Patience))
	}
	require.NoError(t, s.WaitManager(ctx, Near, v1beta2.DataEngineV1, v1beta2.InstanceManagerStateRunning, Patience))
	require.NoError(t, s.Invariants(ctx))
}

// O17c: an instance disappears, returns claimed, and disappears again: no claimed instance is changed.
func TestO17cAnInstanceThatComesAndGoesAroundAWithdrawalIsNeverTouched(t *testing.T) {
	ctx, s := fixture(t)
	v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV1, Near, Near)
	require.NoError(t, err)
	require.NoError(t, s.WaitOwners(ctx, Patience))
	stale, err := s.World.Stale(ctx, v, Near)
	require.NoError(t, err)
	engine := stale[0]
	for range 3 {
		require.NoError(t, s.SetNodeInObject(ctx, engine, Third))
		require.NoError(t, s.WaitOwners(ctx, Patience))
		_, err = s.WaitOrphan(ctx, engine, Patience)
		require.NoError(t, err)
		require.NoError(t, s.StopInstance(ctx, engine.InstanceManager, engine.Name, true), "it vanishes")
		require.NoError(t, s.DeleteOrphanIfThere(ctx, engine.Orphan()))
		fresh, err := s.StartInstance(ctx, world.Instance{InstanceManager: engine.InstanceManager, Name: engine.Name, Type: engine.Type,
			DataEngine: engine.DataEngine, Volume: v.Name})
		require.NoError(t, err)
		require.NoError(t, s.SetNodeInObject(ctx, engine, Near), "the instance is claimed again")
		require.NoError(t, s.WaitOrphanGone(ctx, engine.Orphan(), Patience))
		engine.UUID = fresh.UUID
		require.NoError(t, s.Runs(ctx, engine.InstanceManager, engine.Name))
	}
	require.NoError(t, s.Wait(ctx, "the end of all orphans", Patience, s.NoOrphans))
	require.NoError(t, s.Invariants(ctx))
	none(t, ctx, s, time.Second)
}
