//go:build !fast

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O9: the Orphan ends only after the instance's absence was proven.
func TestO9AnOrphanStaysUntilTheAbsenceWasProven(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, s := fixture(t)
		stale := staleOf(t, ctx, s, engine)[0]
		s.Allow(stale, true)
		// The call is slow, and so is every list after it.
		require.NoError(t, s.Inject(ctx, world.Fault{Kind: "latency", Node: Near, Delay: "300ms"}))
		require.NoError(t, s.DeleteOrphan(ctx, stale.Orphan()))
		require.NoError(t, s.WaitCondition(ctx, stale.Orphan(), v1beta2.OrphanCleanupApproved, v1beta2.ConditionTrue,
			v1beta2.ReasonApproved, Patience))
		require.NoError(t, s.WaitOrphanGone(ctx, stale.Orphan(), Patience))
		require.NoError(t, s.Gone(ctx, stale), "the orphan ended, so the instance is gone")
		counts, err := s.EffectiveDeletions(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, counts[stale.UUID])
	})
}

// O10: the object is scheduled back, and no cache has the change. [ORP-1]
func TestO10ScheduledBackBehindAStaleCacheIsNotDeleted(t *testing.T) {
	ctx, s := fixture(t)
	v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV1, Near, Near, Far)
	require.NoError(t, err)
	stale, err := s.World.Stale(ctx, v, Near)
	require.NoError(t, err)
	require.NoError(t, s.SetNodeInObject(ctx, stale[0], Third))
	require.NoError(t, s.WaitOwners(ctx, Patience))
	_, err = s.WaitOrphan(ctx, stale[0], Patience)
	require.NoError(t, err)

	for _, controller := range []string{world.IMMonitor, world.OrphanController} {
		s.API.HoldWatches(controller, "engines")
		t.Cleanup(func() { s.API.ReleaseWatches(controller, "engines") })
	}
	require.NoError(t, s.SetNodeInObject(ctx, stale[0], Near))
	require.NoError(t, s.DeleteOrphan(ctx, stale[0].Orphan()))
	require.NoError(t, s.Never(ctx, "a deletion", staleTime, s.AnyDeletion))
	for _, controller := range []string{world.IMMonitor, world.OrphanController} {
		s.API.ReleaseWatches(controller, "engines")
	}
	require.NoError(t, s.WaitOrphanGone(ctx, stale[0].Orphan(), Patience))
	require.NoError(t, s.Whole(ctx, v))
	require.NoError(t, s.WaitEvent(ctx, v1beta2.ReasonClaimed, Patience), "the reason is visible")
}

// O11: a scenario covers a node that is unreachable for a while; a node that is gone for ever ends the orphan without a call.
func TestO11UnreachableWaitsAndCompletes(t *testing.T) {
	ctx, s := fixture(t)
	_, err := Unreachable().Run(ctx, s.World, nil)
	require.NoError(t, err)
}

func TestO11ADownNodeEndsItsOrphansWithoutACall(t *testing.T) {
	ctx, s := fixture(t)
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
	// The kubelet is dead, the data plane runs: orphans must not be created and deleted alternately.
	require.NoError(t, s.KillKubelet(ctx, Near))
	require.NoError(t, s.WaitNode(ctx, Near, v1beta2.ConditionFalse, Patience))
	for _, instance := range stale {
		require.NoError(t, s.WaitOrphanGone(ctx, instance.Orphan(), Patience))
	}
	none(t, ctx, s, staleTime)
	deleted, err := s.AnyDeletion(ctx)
	require.NoError(t, err)
	require.Empty(t, deleted)
}

func TestO11AnInstanceManagerThatIsGoneEndsItsOrphansWithoutACall(t *testing.T) {
	ctx, s := fixture(t)
	ghost := world.Stale{Name: "vol-e-0", UUID: "11111111-2222-3333-4444-555555555555", Type: v1beta2.InstanceTypeEngine,
		DataEngine: v1beta2.DataEngineV1, InstanceManager: "instance-manager-that-was", Node: Near}
	require.NoError(t, s.Admin.Create(ctx, ghost.Object(s.Namespace)))
	require.NoError(t, s.WaitOrphanGone(ctx, ghost.Orphan(), Patience))
	require.NoError(t, s.Invariants(ctx))
}

// O20: a replica that a running engine maps is not deleted under it. [ORP-2]
func TestO20AReplicaThatARunningEngineMapsIsNotDeletedUnderIt(t *testing.T) {
	ctx, s := fixture(t)
	v, err := s.CreateVolume(ctx, world.Unique("vol"), world.FullDataEngine(), Far, Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.WaitOwners(ctx, Patience))
	stale, err := s.World.Stale(ctx, v, Near)
	require.NoError(t, err)
	require.Len(t, stale, 1)
	require.NoError(t, s.DisownInstance(ctx, stale[0]))
	_, err = s.WaitOrphan(ctx, stale[0], Patience)
	require.NoError(t, err)
	require.NoError(t, s.DeleteOrphan(ctx, stale[0].Orphan()))
	require.NoError(t, s.WaitCondition(ctx, stale[0].Orphan(), v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue,
		v1beta2.ReasonMappedByEngine, Patience))
	require.NoError(t, s.Never(ctx, "a deletion", staleTime, s.AnyDeletion))

	// The engine removes the replica: the wait ends.
	s.Allow(stale[0], true)
	require.NoError(t, s.StopEngine(ctx, v))
	require.NoError(t, s.WaitOrphanGone(ctx, stale[0].Orphan(), 2*Patience))
	require.NoError(t, s.Gone(ctx, stale[0]))
	require.NoError(t, s.Invariants(ctx))
}

// O17b: an Orphan with an old cluster's name is withdrawn, never executed. Its instance keeps its new Orphan.
func TestO17bAnOrphanOfAnOldClusterIsWithdrawnNeverExecuted(t *testing.T) {
	ctx, s := fixture(t)
	stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
	old := stale[0].Object(s.Namespace)
	old.ObjectMeta = metav1.ObjectMeta{Name: v1beta2.LegacyOrphanName(stale[0].Name, stale[0].InstanceManager, stale[0].DataEngine),
		Namespace: s.Namespace, Finalizers: []string{v1beta2.Finalizer}, Labels: old.Labels}
	require.NoError(t, s.Admin.Create(ctx, old))
	require.NoError(t, s.DeleteOrphanIfThere(ctx, old.Name))
	require.NoError(t, s.WaitOrphanGone(ctx, old.Name, Patience))
	require.NoError(t, s.Never(ctx, "a deletion", time.Second, s.AnyDeletion))
	require.NoError(t, s.OrphansAre(ctx, stale))
}
