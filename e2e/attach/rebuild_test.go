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

// holding is a method of a World that pauses the copies of a volume.
type holding func(w *world.World, ctx context.Context, volume string) error

// rebuildIsHeld fails a replica of a v1 volume in use, and returns once the engine rebuilds it. The rebuild is paused by hold.
func rebuildIsHeld(t *testing.T, ctx context.Context, w *world.World, hold holding) (name string) {
	t.Helper()
	name = inUse(t, ctx, w, v1beta2.DataEngineV1, 2, nil)
	require.NoError(t, hold(w, ctx, name))
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

// whole detaches the volume and attaches it again, and fails unless the engine then starts with both replicas, which have all data. On the
// simulator it also looks into them.
func whole(t *testing.T, ctx context.Context, w *world.World, name string) {
	t.Helper()
	if !world.IsReal() {
		data, err := w.DataOf(ctx, name)
		require.NoError(t, err)
		require.Len(t, data[name].Replicas, 2)
		for _, r := range data[name].Replicas {
			require.False(t, r.Stale || r.Partial, "replica %+v", r)
		}
	}
	unharmed(t, ctx, w, name, 2, "while it is rebuilt")
	added, err := w.EngineCalls(ctx, name, "ReplicaAdd")
	require.NoError(t, err)
	require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
	require.NoError(t, w.WaitDetached(ctx, name, patience))
	require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, near, nil))
	wellAgain(t, ctx, w, name)
	data, err := w.DataOf(ctx, name)
	require.NoError(t, err)
	require.Len(t, data[name].Engines, 1)
	require.Len(t, data[name].Engines[0].Modes, 2)
	for replica, mode := range data[name].Engines[0].Modes {
		require.Equal(t, v1beta2.ReplicaModeRW, mode, replica)
	}
	unharmed(t, ctx, w, name, 2, "while it is rebuilt")
	after, err := w.EngineCalls(ctx, name, "ReplicaAdd")
	require.NoError(t, err)
	require.Equal(t, added, after, "the engine left a replica out, which was rebuilt")
}

// A v1 rebuild that loses its caller stays WO for ever, before its copy as well as during it: the rebuild starts again, and all data is
// read back.
func TestAV1RebuildWhoseLeaderIsKilledIsRepeated(t *testing.T) {
	t.Run("before the copy", func(t *testing.T) { killedLeaderRepeats(t, (*world.World).HoldCopiesBefore) })
	t.Run("during the copy", func(t *testing.T) { killedLeaderRepeats(t, (*world.World).HoldCopies) })
}

func killedLeaderRepeats(t *testing.T, hold holding) {
	t.Helper()
	ctx, w := fixture(t)
	name := rebuildIsHeld(t, ctx, w, hold)
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
	name := rebuildIsHeld(t, ctx, w, (*world.World).HoldCopies)
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
