//go:build !fast

package snapshot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// purging is the method that merges removed snapshots.
const purging = "SnapshotPurge"

// crowd creates attached volumes, each of whose engines has as many snapshots, and waits until each has a ready object.
func crowd(t *testing.T, ctx context.Context, w *world.World, volumes, snapshots int) (names []string, of func(volume string) []string) {
	t.Helper()
	of = func(volume string) (out []string) {
		for n := range snapshots {
			out = append(out, fmt.Sprintf("%s-s-%02d", volume, n))
		}
		return out
	}
	for range volumes {
		names = append(names, world.Unique("crowd"))
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, name := range names {
		group.Go(func() error {
			if err := w.Order(groupCtx, name, v1beta2.DataEngineV1, 1, nil); err != nil {
				return err
			}
			if err := w.Attach(groupCtx, name, near, patience); err != nil {
				return err
			}
			for _, s := range of(name) {
				if err := w.SaveSnapshot(groupCtx, name, s); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, w.WaitSlowly(ctx, "an object of every snapshot", time.Second, 2*patience, func(ctx context.Context) (string, error) {
		var list v1beta2.SnapshotList
		err := w.List(ctx, &list)
		ready := 0
		for _, s := range list.Items {
			if s.Status.ReadyToUse && s.Status.CreationTime != "" {
				ready++
			}
		}
		if err != nil || ready >= volumes*snapshots {
			return "", err
		}
		return fmt.Sprintf("%d of %d are ready", ready, volumes*snapshots), nil
	}))
	return names, of
}

// ofController are the writes of one controller.
func ofController(name string) func(record.Request) bool {
	return func(r record.Request) bool { return r.Kind == record.KindWrite && r.User == name }
}

// S15 with fewer objects: many snapshots cause no writes, a start writes nothing, and one engine's change affects only its own snapshots.
func TestS15ManySnapshotsCauseNoWrites(t *testing.T) {
	const volumes, snapshots = 12, 30
	ctx, w := fixture(t)
	names, of := crowd(t, ctx, w, volumes, snapshots)
	settles(t, ctx, w)

	t.Run("no write and no reconcile while nothing happens", func(t *testing.T) {
		w.API.Reset()
		before, err := w.Counter(ctx, world.SnapshotController, "controller_runtime_reconcile_total")
		require.NoError(t, err)
		require.NoError(t, w.Never(ctx, "a write", 2*watching, func(context.Context) (string, error) {
			return joined(w.API.Counts().Lines(func(r record.Request) bool { return r.Kind == record.KindWrite })), nil
		}))
		after, err := w.Counter(ctx, world.SnapshotController, "controller_runtime_reconcile_total")
		require.NoError(t, err)
		require.Equal(t, before, after)
	})
	t.Run("a start evaluates each, and writes nothing", func(t *testing.T) {
		w.API.Reset()
		process := w.Process(world.SnapshotController)
		require.NoError(t, process.Stop())
		require.NoError(t, process.Restart())
		require.NoError(t, w.Wait(ctx, "each to be evaluated", patience, func(ctx context.Context) (string, error) {
			evaluated, err := w.Counter(ctx, world.SnapshotController, "controller_runtime_reconcile_total")
			if err == nil && evaluated < volumes*snapshots {
				return fmt.Sprintf("%.0f were", evaluated), nil
			}
			return "", err
		}))
		settles(t, ctx, w)
		require.Empty(t, w.API.Counts().Lines(ofController(world.SnapshotController)))
		size, err := process.RSS()
		require.NoError(t, err)
		require.Less(t, size, int64(150e6), "bytes of memory")
	})
	t.Run("a further snapshot of one volume writes only itself and its parent", func(t *testing.T) {
		w.API.Reset()
		further := names[3] + "-further"
		require.NoError(t, w.SaveSnapshot(ctx, names[3], further))
		ready(t, ctx, further)
		settles(t, ctx, w)
		last := of(names[3])[snapshots-1]
		for _, write := range w.API.Writes() {
			if write.Request.User == world.SnapshotController {
				require.Contains(t, []string{further, last}, write.Request.Object)
			}
		}
	})
}

// settles waits until no write was made for a second. Polls never end: each engine has its own.
func settles(t *testing.T, ctx context.Context, w *world.World) {
	t.Helper()
	last, since := -1, time.Now()
	require.NoError(t, w.Wait(ctx, "the last write", patience, func(context.Context) (string, error) {
		if now := w.API.Counts().Sum(func(r record.Request) bool { return r.Kind == record.KindWrite }); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < time.Second {
			return fmt.Sprintf("there are %d", last), nil
		}
		return "", nil
	}))
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprint(lines)
}

// S7: thirty snapshots that are deleted together are removed by one call, and merged by one purge. [SNP-3]
func TestS7ThirtyDeletionsOfAVolumeAreOnePurge(t *testing.T) {
	const snapshots = 31
	ctx, w := fixture(t)
	names, of := crowd(t, ctx, w, 1, snapshots)
	list := of(names[0])
	group, groupCtx := errgroup.WithContext(ctx)
	for _, name := range list[:snapshots-1] {
		group.Go(func() error { return w.DeleteSnapshot(groupCtx, name) })
	}
	require.NoError(t, group.Wait())
	for _, name := range list[:snapshots-1] {
		require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
	}
	require.Equal(t, 1, calls(t, ctx, names[0], purging))
	require.Equal(t, 1, calls(t, ctx, names[0], removing))
	ready(t, ctx, list[snapshots-1])
	require.NoError(t, w.Verify(ctx, names[0]))
}
