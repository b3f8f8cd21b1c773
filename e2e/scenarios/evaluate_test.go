//go:build !fast

package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// O1: name, labels, parameters, finalizer and columns of an orphan are exactly as documented.
func TestO1AnOrphanIsExactlyAsDocumented(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, s := fixture(t)
		for _, stale := range staleOf(t, ctx, s, engine) {
			got := &v1beta2.Orphan{}
			require.NoError(t, s.Get(ctx, stale.Orphan(), got))
			want := stale.Object(s.Namespace)
			require.Equal(t, want.Labels, got.Labels)
			require.Equal(t, want.Spec, got.Spec)
			require.Equal(t, want.Finalizers, got.Finalizers)
			require.Empty(t, got.OwnerReferences)
			require.Equal(t, v1beta2.ReasonNoOwnerCR, conditions.Reason(got.Status.Conditions, v1beta2.OrphanOrphaned))
			require.Equal(t, v1beta2.InstanceStateRunning, conditions.Reason(got.Status.Conditions, v1beta2.OrphanInstanceState))
			require.Equal(t, Near, got.Status.OwnerID)
		}
		table, err := s.Table(ctx, "orphans")
		require.NoError(t, err)
		for _, word := range []string{"TYPE", "DATA ENGINE", "INSTANCE", "NODE", "STATE", "WHY", "NoOwnerCR", "running", Near, engine} {
			require.Contains(t, table, word)
		}
	})
}

// O2: the instance manager in the custom resource decides, on this node or another.
func TestO2AnInstanceIsAnOrphanUnlessItsObjectRunsHere(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, s := fixture(t)
		v, err := s.CreateVolume(ctx, world.Unique("vol"), engine, Near, Near, Far)
		require.NoError(t, err)
		none(t, ctx, s, time.Second)
		stale, err := s.World.Stale(ctx, v, Near)
		require.NoError(t, err)
		require.NoError(t, s.SetNodeInObject(ctx, stale[0], Third))
		orphan, err := s.WaitOrphan(ctx, stale[0], Patience)
		require.NoError(t, err)
		require.Equal(t, v1beta2.ReasonOwnedByOtherInstanceManager, conditions.Reason(orphan.Status.Conditions, v1beta2.OrphanOrphaned))

		// The same node, another instance manager: only the name of the manager counts.
		require.NoError(t, s.SetNodeInObject(ctx, stale[0], Near))
		require.NoError(t, s.WaitOrphanGone(ctx, stale[0].Orphan(), Patience))
		object, err := s.Owner(ctx, stale[0])
		require.NoError(t, err)
		require.NoError(t, s.SetStatus(ctx, object, map[string]any{"instanceManagerName": "instance-manager-of-an-older-image"}))
		_, err = s.WaitOrphan(ctx, stale[0], Patience)
		require.NoError(t, err)
	})
}

// O3: each precondition alone suppresses the evaluation, and the reason is counted.
func TestO3EachPreconditionAloneSuppressesTheEvaluation(t *testing.T) {
	for reason, precondition := range map[string]struct{ spec, status map[string]any }{
		"StateChanging":  {spec: map[string]any{"desireState": "stopped"}},
		"OwnerElsewhere": {spec: map[string]any{"nodeID": "node-9"}},
		"TransientState": {spec: map[string]any{"desireState": "error"}, status: map[string]any{"currentState": "error"}},
	} {
		t.Run(reason, func(t *testing.T) {
			ctx, s := fixture(t)
			v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV1, Near, Near)
			require.NoError(t, err)
			require.NoError(t, s.WaitOwners(ctx, Patience))
			stale, err := s.World.Stale(ctx, v, Near)
			require.NoError(t, err)
			object, err := s.Owner(ctx, stale[0])
			require.NoError(t, err)
			// The precondition is set first; then the object moves, which alone would create an orphan.
			if precondition.spec != nil {
				require.NoError(t, s.Patch(ctx, object, map[string]any{"spec": precondition.spec}))
			}
			status := map[string]any{"instanceManagerName": "instance-manager-elsewhere"}
			for key, value := range precondition.status {
				status[key] = value
			}
			require.NoError(t, s.SetStatus(ctx, object, status))
			none(t, ctx, s, 2*time.Second)
			require.NoError(t, s.WaitMetric(ctx, world.IMMonitor, "non_decisions_total", map[string]string{"reason": reason}, Patience))
		})
	}
	t.Run("CRDeleting", func(t *testing.T) {
		ctx, s := fixture(t)
		v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV1, Near, Near)
		require.NoError(t, err)
		stale, err := s.World.Stale(ctx, v, Near)
		require.NoError(t, err)
		object, err := s.Owner(ctx, stale[0])
		require.NoError(t, err)
		require.NoError(t, s.Admin.Delete(ctx, object), "its finalizer keeps it")
		none(t, ctx, s, 2*time.Second)
		require.NoError(t, s.WaitMetric(ctx, world.IMMonitor, "non_decisions_total", map[string]string{"reason": "CRDeleting"}, Patience))
	})
}

// O4: what is not live is never an orphan while its object exists.
func TestO4ARuntimeThatIsNotLiveIsNoOrphanWhileItsObjectExists(t *testing.T) {
	ctx, s := fixture(t)
	v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV2, Near, Near, Far)
	require.NoError(t, err)
	require.NoError(t, s.Detach(ctx, v))
	stale, err := s.Listed(ctx, v, Near)
	require.NoError(t, err)
	require.Len(t, stale, 1, "the detached replica is listed")
	object, err := s.Owner(ctx, stale[0])
	require.NoError(t, err)
	require.NoError(t, s.SetStatus(ctx, object, map[string]any{"instanceManagerName": "instance-manager-elsewhere"}))
	none(t, ctx, s, 2*time.Second)
}

// O7: an instance without a UUID gets no orphan, but is reported; the orphan is created once it has a UUID.
func TestO7WithoutAUUIDThereIsNoOrphanUntilThereIsOne(t *testing.T) {
	ctx, s := fixture(t)
	v, err := s.CreateVolume(ctx, world.Unique("vol"), v1beta2.DataEngineV1, Near, Near)
	require.NoError(t, err)
	stale, err := s.World.Stale(ctx, v, Near)
	require.NoError(t, err)
	require.NoError(t, s.Inject(ctx, world.Fault{Kind: "empty-uuid", Node: Near}))
	require.NoError(t, s.Nudge(ctx, stale[0].InstanceManager))
	for _, instance := range stale {
		require.NoError(t, s.DisownInstance(ctx, instance))
	}
	require.NoError(t, s.WaitMetric(ctx, world.IMMonitor, "non_decisions_total", map[string]string{"reason": "NoUUID"}, Patience))
	require.NoError(t, s.WaitEvent(ctx, v1beta2.ReasonNoUUID, Patience))
	none(t, ctx, s, time.Second)

	require.NoError(t, s.Heal(ctx))
	require.NoError(t, s.Nudge(ctx, stale[0].InstanceManager))
	for _, instance := range stale {
		_, err := s.WaitOrphan(ctx, instance, Patience)
		require.NoError(t, err)
	}
}
