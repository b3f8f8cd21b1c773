//go:build !fast

package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// TestAServerOfToday repeats the main checks on servers as released today, over mutual TLS: v2 UUIDs are empty, v2
// deletions are not verified, and after a restart the list is empty for seconds.
func TestAServerOfToday(t *testing.T) {
	ctx := t.Context()
	w, err := world.Start(ctx, world.Options{Nodes: Nodes, TLS: true, SimulatorArgs: []string{"--server=today"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	for sentence, test := range map[string]func(*testing.T, context.Context, *Scene){
		"O7 an engine without a readable UUID is reported, not evaluated; a replica is identified by its head": todayIdentity,
		"O8 a replica that was created again under its name is not deleted":                                    todayReplaced,
		"O16 an empty list after a restart loses no orphan and no data":                                        todayRestart,
	} {
		t.Run(sentence, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(ctx, w.Stretched(2*time.Minute))
			defer cancel()
			test(t, ctx, &Scene{World: w, MayStay: map[string]bool{}})
			require.NoError(t, w.Sweep(ctx))
		})
	}
}

// todayStale creates a v2 volume near and far, disowns it near, and returns the engine and the replica there.
func todayStale(t *testing.T, ctx context.Context, s *Scene) (engine, replica world.Stale) {
	t.Helper()
	v, err := s.CreateVolume(ctx, world.Unique("today"), v1beta2.DataEngineV2, Near, Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.WaitOwners(ctx, Patience))
	require.NoError(t, s.disownNear(ctx, v))
	return s.Stale[0], s.Stale[1]
}

func todayIdentity(t *testing.T, ctx context.Context, s *Scene) {
	engine, replica := todayStale(t, ctx, s)
	orphan, err := s.WaitOrphan(ctx, replica, Patience)
	require.NoError(t, err)
	require.Contains(t, conditions.Get(orphan.Status.Conditions, v1beta2.OrphanOrphaned).Message, "HeadLvol")
	require.NoError(t, s.WaitEvent(ctx, v1beta2.ReasonNoUUID, Patience))
	require.NoError(t, s.OrphansAre(ctx, []world.Stale{replica}))

	// The engine maps the replica and cannot be deleted: the replica waits for it.
	require.NoError(t, s.DeleteOrphan(ctx, replica.Orphan()))
	require.NoError(t, s.WaitCondition(ctx, replica.Orphan(), v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue,
		v1beta2.ReasonMappedByEngine, Patience))
	s.Allow(replica, true)
	require.NoError(t, s.StopInstance(ctx, engine.InstanceManager, engine.Name, true))
	require.NoError(t, s.WaitOrphanGone(ctx, replica.Orphan(), Patience))
	require.NoError(t, s.Gone(ctx, replica))
	require.NoError(t, s.Invariants(ctx))
}

func todayReplaced(t *testing.T, ctx context.Context, s *Scene) {
	engine, replica := todayStale(t, ctx, s)
	_, err := s.WaitOrphan(ctx, replica, Patience)
	require.NoError(t, err)
	require.NoError(t, s.StopInstance(ctx, engine.InstanceManager, engine.Name, true))
	fresh, err := s.ReplaceInstance(ctx, replica)
	require.NoError(t, err)
	require.NoError(t, s.DeleteOrphanIfThere(ctx, replica.Orphan()))
	require.NoError(t, s.WaitOrphanGone(ctx, replica.Orphan(), Patience))
	renewed := replica
	renewed.UUID = fresh.UUID
	_, err = s.WaitOrphan(ctx, renewed, Patience)
	require.NoError(t, err, "the new one has an orphan of its own")
	require.NoError(t, s.Runs(ctx, replica.InstanceManager, replica.Name))
	s.MayStay[renewed.Orphan()] = true
	require.NoError(t, s.Invariants(ctx))
}

func todayRestart(t *testing.T, ctx context.Context, s *Scene) {
	require.NoError(t, s.SetAutoDeletion(ctx, "instance", "3600"))
	kept, err := s.CreateVolume(ctx, world.Unique("archive"), v1beta2.DataEngineV2, "", Near, Far)
	require.NoError(t, err)
	_, replica := todayStale(t, ctx, s)
	_, err = s.WaitOrphan(ctx, replica, Patience)
	require.NoError(t, err)
	require.NoError(t, s.RestartManager(ctx, Near, v1beta2.DataEngineV2))
	require.NoError(t, s.Never(ctx, "the loss of the replica's orphan", 6*time.Second, s.lostOrphan([]world.Stale{replica})))
	require.NoError(t, s.WaitCondition(ctx, replica.Orphan(), v1beta2.OrphanOrphaned, v1beta2.ConditionTrue, v1beta2.ReasonDataOnly,
		Patience))
	require.NoError(t, s.Whole(ctx, kept))
	s.MayStay[replica.Orphan()] = true
	require.NoError(t, s.Invariants(ctx))
}
