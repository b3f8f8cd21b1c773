//go:build !fast

package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// O14: which values the setting accepts, and how it refuses others.
func TestO14TheSettingRefusesOtherValuesWithAMessage(t *testing.T) {
	ctx, s := fixture(t)
	for _, value := range []string{"", "instance", "replica-data", " replica-data ; instance ", "instance;replica-data"} {
		require.NoError(t, s.Set(ctx, "orphan-resource-auto-deletion", value), "%q", value)
	}
	for _, value := range []string{"instances", "instance;", ";", "instance,replica-data", "true", strings.Repeat("instance;", 100) +
		"instance"} {
		err := s.Set(ctx, "orphan-resource-auto-deletion", value)
		require.Error(t, err, "%q", value)
		require.Contains(t, err.Error(), "orphan-resource-auto-deletion", "%q: the message names the setting", value)
	}
	for _, value := range []string{"-1", "soon", "1.5", ""} {
		require.Error(t, s.Set(ctx, "orphan-resource-auto-deletion-grace-period", value), "%q", value)
	}
}

// O18: an Orphan's spec is immutable, and invalid specs are refused.
func TestO18AnOrphanIsImmutableAndInvalidOnesAreRefused(t *testing.T) {
	ctx, s := fixture(t)
	good := world.Stale{Name: "vol-e-0", UUID: "11111111-2222-3333-4444-555555555555", Type: v1beta2.InstanceTypeEngine,
		DataEngine: v1beta2.DataEngineV1, InstanceManager: s.InstanceManager(Near, v1beta2.DataEngineV1), Node: Near}
	for sentence, spoil := range map[string]func(*v1beta2.Orphan){
		"an unknown type":       func(o *v1beta2.Orphan) { o.Spec.OrphanType = "engine" },
		"no node":               func(o *v1beta2.Orphan) { o.Spec.NodeID = "" },
		"no instance name":      func(o *v1beta2.Orphan) { delete(o.Spec.Parameters, v1beta2.OrphanParameterInstanceName) },
		"an empty UUID":         func(o *v1beta2.Orphan) { o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] = "" },
		"no instance manager":   func(o *v1beta2.Orphan) { delete(o.Spec.Parameters, v1beta2.OrphanParameterInstanceManager) },
		"no data engine":        func(o *v1beta2.Orphan) { o.Spec.DataEngine = "" },
		"an unknown dataEngine": func(o *v1beta2.Orphan) { o.Spec.DataEngine = "v3" },
	} {
		t.Run(sentence, func(t *testing.T) {
			object := good.Object(s.Namespace)
			spoil(object)
			err := s.Admin.Create(ctx, object)
			require.ErrorContains(t, err, "spec")
		})
	}
	object := good.Object(s.Namespace)
	require.NoError(t, s.Admin.Create(ctx, object))
	err := s.Patch(ctx, &v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{Name: object.Name, Namespace: s.Namespace}},
		map[string]any{"spec": map[string]any{"nodeID": Far}})
	require.ErrorContains(t, err, "immutable")
	require.NoError(t, s.WaitOrphanGone(ctx, object.Name, Patience), "no instance of that name runs: im-monitor withdraws the Orphan")
}

// The data plane returns invalid data: nothing is lost or deleted, and evaluation continues once the data is valid.
func TestInvalidDataFromTheDataPlaneChangesNothing(t *testing.T) {
	for _, mode := range []string{"types", "huge", "empty", "renamed", "utf8"} {
		t.Run(mode, func(t *testing.T) {
			ctx, s := fixture(t)
			stale := staleOf(t, ctx, s, v1beta2.DataEngineV1)
			require.NoError(t, s.Inject(ctx, world.Fault{Kind: "garbage", Mode: mode, Node: Near}))
			require.NoError(t, s.Never(ctx, "a deletion", staleTime, s.AnyDeletion))
			require.NoError(t, s.Heal(ctx))
			for _, instance := range stale {
				_, err := s.WaitOrphan(ctx, instance, Patience)
				require.NoError(t, err)
				s.MayStay[instance.Orphan()] = true
			}
			require.NoError(t, s.OrphansAre(ctx, stale))
			require.NoError(t, s.Invariants(ctx))
		})
	}
}
