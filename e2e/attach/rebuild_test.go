//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// rebuildIsHeld fails a replica of a v1 volume in use, and returns once the engine rebuilds it. The rebuild is paused by hold.
func rebuildIsHeld(t *testing.T, ctx context.Context, w *world.World, hold func(context.Context, string) error) (name string) {
	t.Helper()
	name = inUse(t, ctx, w, v1beta2.DataEngineV1, 2, nil)
	require.NoError(t, hold(ctx, name))
	replicas, err := w.ReplicasOf(ctx, name)
	require.NoError(t, err)
	require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
	require.NoError(t, w.Wait(ctx, "a rebuild of "+name, patience, writeOnly(w, name)))
	return name
}

// writeOnly returns a text while no poll has found a replica of the volume in mode WO.
func writeOnly(w *world.World, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		var list v1beta2.EngineList
		err := w.List(ctx, &list)
		for _, e := range list.Items {
			for _, mode := range e.Status.ReplicaModeMap {
				if e.Spec.VolumeName == name && mode == v1beta2.ReplicaModeWO {
					return "", err
				}
			}
		}
		return "no replica is WO", err
	}
}

// whole compares the content of every replica, and returns a text while the next start of the engine would leave one out.
func whole(t *testing.T, ctx context.Context, w *world.World, name string) {
	t.Helper()
	data, err := w.DataOf(ctx, name)
	require.NoError(t, err)
	require.Len(t, data[name].Replicas, 2)
	for _, r := range data[name].Replicas {
		require.False(t, r.Stale || r.Partial, "replica %+v", r)
	}
	unharmed(t, ctx, w, name, 2, "while it is rebuilt")
}

// A v1 rebuild that loses its caller stays WO for ever, before its copy as well as during it: the rebuild starts again, and all data is
// read back.
func TestAV1RebuildWhoseLeaderIsKilledIsRepeated(t *testing.T) {
	for step, hold := range map[string]func(*world.World) func(context.Context, string) error{
		"before the copy": func(w *world.World) func(context.Context, string) error { return w.HoldCopiesBefore },
		"during the copy": func(w *world.World) func(context.Context, string) error { return w.HoldCopies },
	} {
		t.Run(step, func(t *testing.T) { killedLeaderRepeats(t, hold) })
	}
}

func killedLeaderRepeats(t *testing.T, hold func(*world.World) func(context.Context, string) error) {
	t.Helper()
	ctx, w := fixture(t)
	name := rebuildIsHeld(t, ctx, w, hold(w))
	monitor := w.Process(world.IMMonitor)
	monitor.Kill()
	require.NoError(t, w.Wait(ctx, "the engine to notice", patience,
		func(ctx context.Context) (string, error) { return w.Reported(ctx, "stranded") }))
	require.NoError(t, w.Write(ctx, name, 2, "while it is rebuilt"))
	require.NoError(t, w.ReleaseCopies(ctx, name, copying))
	require.NoError(t, monitor.Restart())
	wellAgain(t, ctx, w, name)
	whole(t, ctx, w, name)
	added, err := w.EngineCalls(ctx, name, "ReplicaAdd")
	require.NoError(t, err)
	require.Equal(t, 2, added)
	verified, err := w.EngineCalls(ctx, name, "ReplicaVerifyRebuild")
	require.NoError(t, err)
	require.Zero(t, verified)
}

// A process that receives SIGTERM runs until the rebuild that it started has ended: no rebuild is repeated.
func TestAV1RebuildOutlastsARollout(t *testing.T) {
	ctx, w := fixture(t)
	name := rebuildIsHeld(t, ctx, w, w.HoldCopies)
	next, err := w.StartController(ctx, world.IMMonitor, "-next")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Remove(next)) })
	monitor := w.Process(world.IMMonitor)
	stopped := make(chan error, 1)
	go func() { stopped <- monitor.Stop() }()
	t.Cleanup(func() { require.NoError(t, monitor.Restart()) })
	require.NoError(t, w.Write(ctx, name, 2, "while it is rebuilt"))
	require.NoError(t, w.ReleaseCopies(ctx, name, copying))
	require.NoError(t, <-stopped)
	wellAgain(t, ctx, w, name)
	whole(t, ctx, w, name)
	added, err := w.EngineCalls(ctx, name, "ReplicaAdd")
	require.NoError(t, err)
	require.Equal(t, 1, added, fmt.Sprintf("the rebuild of %s was repeated", name))
}
