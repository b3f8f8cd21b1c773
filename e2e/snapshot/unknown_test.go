//go:build !fast

package snapshot

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const far = scenarios.Far

// identities are the UIDs of the volume's Snapshots by name: an object that was deleted and created again has another.
func identities(t *testing.T, ctx context.Context, w *world.World, volume string) map[string]types.UID {
	t.Helper()
	list, err := w.SnapshotsOf(ctx, volume)
	require.NoError(t, err)
	out := map[string]types.UID{}
	for name, s := range list {
		require.Nil(t, s.DeletionTimestamp, name)
		out[name] = s.UID
	}
	return out
}

// known is an attached volume with three requested snapshots and one that the engine took by itself.
func known(t *testing.T, ctx context.Context, w *world.World, change func(*v1beta2.VolumeSpec)) (string, map[string]types.UID) {
	t.Helper()
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, change))
	require.NoError(t, w.Ticket(ctx, name, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-1", true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	for range 3 {
		s := world.Unique("snap")
		require.NoError(t, w.Snapshot(ctx, name, s))
		ready(t, ctx, s)
	}
	system := world.Unique("system")
	require.NoError(t, w.SaveSnapshot(ctx, name, system))
	require.NoError(t, w.Wait(ctx, "the object of "+system, patience, func(ctx context.Context) (string, error) {
		return "", w.Get(ctx, system, &v1beta2.Snapshot{})
	}))
	ready(t, ctx, system)
	is := identities(t, ctx, w, name)
	require.Len(t, is, 4)
	return name, is
}

// stay checks that each of the objects stays, and is ready at the end.
func stay(t *testing.T, ctx context.Context, w *world.World, volume string, before map[string]types.UID) {
	t.Helper()
	for name := range before {
		ready(t, ctx, name)
	}
	require.Equal(t, before, identities(t, ctx, w, volume))
	require.Zero(t, calls(t, ctx, volume, removing))
}

// S6: an engine that does not answer, answers with half, or no longer exists changes no Snapshot. [SNP-1]
func TestS6UnknownSnapshotListsDeleteNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault world.Fault
	}{
		{"the list fails", world.Fault{Kind: "error", Method: "SnapshotList", Code: "Unknown"}},
		{"the engine is out of reach", world.Fault{Kind: "partition", Mode: "blackhole", Node: near}},
		{"the list lacks everything", world.Fault{Kind: "partial-list", Method: "SnapshotList", Fraction: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, w := fixture(t)
			vol, before := known(t, ctx, w, nil)
			require.NoError(t, w.Inject(ctx, c.fault))
			require.NoError(t, w.Never(ctx, "the end of a Snapshot", 3*watching, func(ctx context.Context) (string, error) {
				list, err := w.SnapshotsOf(ctx, vol)
				for name := range before {
					if s, ok := list[name]; err == nil && (!ok || s.DeletionTimestamp != nil) {
						return name + " ends", nil
					}
				}
				return "", err
			}))
			require.NoError(t, w.Heal(ctx))
			stay(t, ctx, w, vol, before)
		})
	}
}

// S6: the first poll of an engine that has just started lists no snapshot. [SNP-1]
func TestS6AnEmptyFirstPollDeletesNothing(t *testing.T) {
	ctx, w := fixture(t)
	vol, before := known(t, ctx, w, nil)
	require.NoError(t, w.DropTicket(ctx, vol, "csi-1"))
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
	stay(t, ctx, w, vol, before)
	var names []string
	for name := range before {
		names = append(names, name)
	}
	require.NoError(t, w.Inject(ctx, world.Fault{Kind: "partial-list", Method: "SnapshotList", Names: names, Times: 1}))
	require.NoError(t, w.Ticket(ctx, vol, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitAttached(ctx, vol, near, patience))
	settles(t, ctx, w)
	stay(t, ctx, w, vol, before)
}

// S6: an engine that crashes. [SNP-1]
func TestS6AnEngineThatFailsDeletesNothing(t *testing.T) {
	ctx, w := fixture(t)
	vol, before := known(t, ctx, w, nil)
	require.NoError(t, w.KillEngine(ctx, vol, near))
	require.NoError(t, w.WaitVolume(ctx, vol, "to notice", patience, func(v *v1beta2.Volume) string {
		if v.Status.State == v1beta2.VolumeStateAttached && v.Status.Robustness == v1beta2.VolumeRobustnessHealthy {
			return "it is attached and healthy"
		}
		return ""
	}))
	require.Equal(t, before, identities(t, ctx, w, vol))
	require.NoError(t, w.WaitRobust(ctx, vol, v1beta2.VolumeRobustnessHealthy, patience))
	stay(t, ctx, w, vol, before)
}

// S6: the second engine of a volume that moves lists nothing at first. [SNP-1]
func TestS6AMigrationDeletesNothing(t *testing.T) {
	ctx, w := fixture(t)
	vol, before := known(t, ctx, w, func(s *v1beta2.VolumeSpec) {
		s.AccessMode, s.Migratable = v1beta2.AccessModeReadWriteMany, true
	})
	require.NoError(t, w.Ticket(ctx, vol, "csi-2", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.WaitTicket(ctx, vol, "csi-2", true, "", patience))
	require.Equal(t, before, identities(t, ctx, w, vol))
	require.NoError(t, w.DropTicket(ctx, vol, "csi-1"))
	require.NoError(t, w.WaitAttached(ctx, vol, far, patience))
	require.NoError(t, w.WaitRobust(ctx, vol, v1beta2.VolumeRobustnessHealthy, patience))
	stay(t, ctx, w, vol, before)
}
