package snapshot

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// S1: a snapshot is requested on an attached volume. [SNP-2]
func TestS1ASnapshotOfAnAttachedVolume(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		vol, name := volume(t, ctx, engine, true), world.Unique("snap")
		require.NoError(t, w.Snapshot(ctx, vol, name))
		ready(t, ctx, name)
		s := &v1beta2.Snapshot{}
		require.NoError(t, w.Get(ctx, name, s))
		require.True(t, s.Status.ReadyToUse && s.Status.UserCreated)
		require.NotEmpty(t, s.Status.CreationTime)
		require.Equal(t, 1, calls(t, ctx, vol, taking))
	})
}

// S2: a snapshot is requested on a detached volume, which is attached for it and then detached.
func TestS2ASnapshotOfADetachedVolume(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		vol, name := volume(t, ctx, engine, false), world.Unique("snap")
		require.NoError(t, w.Snapshot(ctx, vol, name))
		ready(t, ctx, name)
		require.NoError(t, w.WaitDetached(ctx, vol, patience))
		tickets, err := w.Tickets(ctx, vol)
		require.NoError(t, err)
		require.Empty(t, tickets)
		require.Equal(t, 1, calls(t, ctx, vol, taking))
	})
}

// S3: the engine has a snapshot of that name already.
func TestS3ASnapshotThatExistsIsAdopted(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := volume(t, ctx, v1beta2.DataEngineV1, true), world.Unique("snap")
	require.NoError(t, w.SaveSnapshot(ctx, vol, name))
	require.NoError(t, w.Snapshot(ctx, vol, name))
	ready(t, ctx, name)
	require.NoError(t, w.Never(ctx, "a second one", watching, func(ctx context.Context) (string, error) {
		if count := calls(t, ctx, vol, taking); count > 0 {
			return fmt.Sprintf("%d were taken", count), nil
		}
		return "", nil
	}))
}

// S5: each snapshot of the engine gets an object; the head does not.
func TestS5ASnapshotOfTheSystemGetsAnObject(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := volume(t, ctx, world.FullDataEngine(), true), world.Unique("system")
	require.NoError(t, w.SaveSnapshot(ctx, vol, name))
	require.NoError(t, w.Wait(ctx, "the object of "+name, patience, func(ctx context.Context) (string, error) {
		list, err := w.SnapshotsOf(ctx, vol)
		if s, ok := list[name]; !ok || !s.Status.ReadyToUse {
			return fmt.Sprintf("there are %d objects", len(list)), err
		}
		return "", nil
	}))
	list, err := w.SnapshotsOf(ctx, vol)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.False(t, list[name].Spec.CreateSnapshot)
	require.NoError(t, w.SaveSnapshot(ctx, vol, world.Unique("newer")), "a v1 head builds on the newest, which cannot be merged")
	require.NoError(t, w.DeleteSnapshot(ctx, name))
	require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
}

// SNP: one incomplete list ends no Snapshot.
func TestS7AListThatLacksHalfEndsNoSnapshot(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		vol := volume(t, ctx, engine, true)
		names := []string{vol + "-s0", vol + "-s1", vol + "-s2"}
		for _, name := range names {
			require.NoError(t, w.Snapshot(ctx, vol, name))
			ready(t, ctx, name)
		}
		require.NoError(t, w.Inject(ctx, world.Fault{Kind: "partial-list", Node: near, Method: "SnapshotList", Names: names[:2], Times: 1}))
		require.NoError(t, w.DeleteSnapshot(ctx, names[0]))
		require.NoError(t, w.DeleteSnapshot(ctx, names[1]))
		for _, name := range names[:2] {
			require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
		}
		require.Positive(t, calls(t, ctx, vol, removing), "they are gone without a removal")
		ready(t, ctx, names[2])
		require.NoError(t, w.NoHarm(ctx))
	})
}

// S7: several snapshots that are deleted at once end, and the remaining data is complete. [SNP-3]
func TestS7SeveralAreRemoved(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		vol := volume(t, ctx, engine, true)
		var names []string
		for range 4 {
			name := world.Unique("snap")
			require.NoError(t, w.Write(ctx, vol, len(names), name))
			require.NoError(t, w.Snapshot(ctx, vol, name))
			ready(t, ctx, name)
			names = append(names, name)
		}
		for _, name := range names[:3] {
			require.NoError(t, w.DeleteSnapshot(ctx, name))
		}
		for _, name := range names[:3] {
			require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
		}
		ready(t, ctx, names[3])
		for block, name := range names {
			require.NoError(t, w.Keeps(ctx, vol, block, name))
		}
		require.Equal(t, 4, calls(t, ctx, vol, taking))
		list, err := w.SnapshotsOf(ctx, vol)
		require.NoError(t, err)
		require.Len(t, list, 1)
	})
}

// S8: the setting suspends removals, and lets them continue.
func TestS8PurgesThatAreDisabled(t *testing.T) {
	ctx, w := fixture(t)
	vol := volume(t, ctx, v1beta2.DataEngineV1, true)
	first, second := world.Unique("snap"), world.Unique("snap")
	for _, name := range []string{first, second} {
		require.NoError(t, w.Snapshot(ctx, vol, name))
		ready(t, ctx, name)
	}
	require.NoError(t, w.Set(ctx, "disable-snapshot-purge", "true"))
	require.NoError(t, w.DeleteSnapshot(ctx, first))
	require.NoError(t, w.WaitSnapshot(ctx, first, v1beta2.SnapshotRemovalApproved, v1beta2.ReasonPurgeDisabled, patience))
	require.Zero(t, calls(t, ctx, vol, removing))
	require.NoError(t, w.Set(ctx, "disable-snapshot-purge", "false"))
	require.NoError(t, w.WaitSnapshotGone(ctx, first, patience))

	require.NoError(t, w.DeleteSnapshot(ctx, second))
	require.NoError(t, w.WaitSnapshot(ctx, second, v1beta2.SnapshotRemovalApproved, v1beta2.ReasonParentOfVolumeHead, patience))
	require.NoError(t, w.Snapshot(ctx, vol, world.Unique("snap")))
	require.NoError(t, w.WaitSnapshotGone(ctx, second, patience))
}

// S9: a deleted volume ends its snapshots.
func TestS9AVolumeThatGoes(t *testing.T) {
	ctx, w := fixture(t)
	vol, name := volume(t, ctx, v1beta2.DataEngineV1, true), world.Unique("snap")
	require.NoError(t, w.Snapshot(ctx, vol, name))
	ready(t, ctx, name)
	require.NoError(t, w.DeleteVolume(ctx, vol))
	require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
	require.NoError(t, w.WaitVolumeGone(ctx, vol, patience))
	require.Zero(t, calls(t, ctx, vol, removing))
}

// S11: at its limit a volume gets no further snapshot, and reports it; it continues once there is room.
func TestS11TheLimitOfAVolume(t *testing.T) {
	ctx, w := fixture(t)
	vol := world.Unique("vol")
	require.NoError(t, w.Order(ctx, vol, world.FullDataEngine(), 2, func(s *v1beta2.VolumeSpec) { s.SnapshotMaxCount = 2 }))
	first, third := world.Unique("snap"), world.Unique("late")
	for _, name := range []string{first, world.Unique("snap")} {
		require.NoError(t, w.Snapshot(ctx, vol, name))
		ready(t, ctx, name)
	}
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
	require.NoError(t, w.Snapshot(ctx, vol, third))
	require.NoError(t, w.WaitSnapshot(ctx, third, v1beta2.SnapshotReady, v1beta2.ReasonLimitReached, patience))
	require.NoError(t, w.DeleteSnapshot(ctx, first))
	ready(t, ctx, third)
	require.Equal(t, 3, calls(t, ctx, vol, taking))
}

// S11: the engine counts to the setting, too, where the volume names no number: of two Snapshots that are made at once with room for one,
// one waits.
func TestS11TheLimitOfTheSetting(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		require.NoError(t, w.Set(ctx, "snapshot-max-count", "2"))
		t.Cleanup(func() { require.NoError(t, w.Set(context.WithoutCancel(ctx), "snapshot-max-count", "250")) })
		vol, first := limited(t, ctx, engine, 2), world.Unique("snap")
		require.NoError(t, w.Ticket(ctx, vol, "csi-1", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.WaitAttached(ctx, vol, near, patience))
		require.NoError(t, w.Snapshot(ctx, vol, first))
		ready(t, ctx, first)
		pair := []string{world.Unique("snap"), world.Unique("snap")}
		for _, name := range pair {
			require.NoError(t, w.Snapshot(ctx, vol, name))
		}
		require.NoError(t, w.Wait(ctx, "one to be taken and one to wait", patience, func(ctx context.Context) (string, error) {
			is := map[string]bool{}
			for _, name := range pair {
				s := &v1beta2.Snapshot{}
				if err := w.Get(ctx, name, s); err != nil {
					return "", err
				}
				is[conditions.Reason(s.Status.Conditions, v1beta2.SnapshotReady)] = true
			}
			if is[v1beta2.ReasonReady] && is[v1beta2.ReasonLimitReached] {
				return "", nil
			}
			return fmt.Sprintf("they report %v", is), nil
		}))
		require.Equal(t, 2, calls(t, ctx, vol, taking))
		require.NoError(t, w.DeleteSnapshot(ctx, first))
		for _, name := range pair {
			ready(t, ctx, name)
		}
	})
}

// limited creates a volume that names no number of snapshots, and gets the setting's. The setting and the volume reach the controller on
// two watches: a volume that came first keeps the number from before, and another is created.
func limited(t *testing.T, ctx context.Context, engine string, count int) string {
	t.Helper()
	name := ""
	require.NoError(t, here.Wait(ctx, "a volume with the setting's number of snapshots", patience, func(ctx context.Context) (string, error) {
		name = world.Unique("vol")
		if err := here.Order(ctx, name, engine, 2, nil); err != nil {
			return "", err
		}
		if err := here.WaitDetached(ctx, name, patience); err != nil {
			return "", err
		}
		v := &v1beta2.Volume{}
		if err := here.Get(ctx, name, v); err != nil || v.Spec.SnapshotMaxCount == count {
			return "", err
		}
		return fmt.Sprintf("volume %s got %d, not %d", name, v.Spec.SnapshotMaxCount, count), nil
	}))
	return name
}

// S11: a snapshot that waits at the limit is taken once the limit is raised, which the running engine has to receive.
func TestS11TheLimitOfAVolumeInUseIsRaised(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		vol, late := world.Unique("vol"), world.Unique("late")
		require.NoError(t, w.Order(ctx, vol, engine, 2, func(s *v1beta2.VolumeSpec) { s.SnapshotMaxCount = 2 }))
		require.NoError(t, w.WaitDetached(ctx, vol, patience))
		require.NoError(t, w.Ticket(ctx, vol, "csi-1", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.WaitAttached(ctx, vol, near, patience))
		for _, name := range []string{world.Unique("snap"), world.Unique("snap")} {
			require.NoError(t, w.Snapshot(ctx, vol, name))
			ready(t, ctx, name)
		}
		require.NoError(t, w.Snapshot(ctx, vol, late))
		require.NoError(t, w.WaitSnapshot(ctx, late, v1beta2.SnapshotReady, v1beta2.ReasonLimitReached, patience))
		v := &v1beta2.Volume{}
		require.NoError(t, w.Get(ctx, vol, v))
		require.NoError(t, w.Patch(ctx, v, map[string]any{"spec": map[string]any{"snapshotMaxCount": 3}}))
		ready(t, ctx, late)
	})
}
