package attach

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// A longer run on real servers uses larger numbers.
var (
	migrations = flag.Int("migrations", 3, "how many times a v1 volume moves under a guest that writes")
	crashed    = flag.Int("crashed-migrations", 1, "how many times a v1 volume moves for each step at which attach-controller crashes")
)

// writesEvery is the pause between two writes of a guest.
const writesEvery = 5 * time.Millisecond

// moveUnder moves a volume for the n-th time from one of two nodes to the other.
func moveUnder(ctx context.Context, t *testing.T, w *world.World, name string, n int) {
	t.Helper()
	nodes := []string{near, far}
	before, next := nodes[n%2], nodes[(n+1)%2]
	require.NoError(t, w.Ticket(ctx, name, "guest-"+next, v1beta2.AttacherCSI, next, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "guest-"+next, true, "", patience))
	require.NoError(t, w.DropTicket(ctx, name, "guest-"+before))
	require.NoError(t, w.Wait(ctx, "the end of the move", patience, func(ctx context.Context) (string, error) {
		v := &v1beta2.Volume{}
		if err := w.Get(ctx, name, v); err != nil {
			return "", err
		}
		if v.Status.CurrentNodeID == next && v.Status.CurrentMigrationNodeID == "" {
			return "", nil
		}
		return fmt.Sprintf("it is on %q and %q", v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID), nil
	}))
}

// writtenTo is a v1 volume near to which a workload writes.
func writtenTo(t *testing.T) (context.Context, *world.World, string) {
	t.Helper()
	ctx, w := fixture(t)
	name := world.Unique("moved")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, migratable))
	require.NoError(t, w.Ticket(ctx, name, "guest-"+near, v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "guest-"+near, true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WriteOn(ctx, name, writesEvery))
	require.NoError(t, w.WaitWritten(ctx, name, patience))
	return ctx, w, name
}

// unlost ends the workload and requires that every write that was acknowledged is read.
func unlost(ctx context.Context, t *testing.T, w *world.World, name string, moves int) {
	t.Helper()
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Wait(ctx, "two replicas", patience, func(ctx context.Context) (string, error) {
		replicas, err := w.ReplicasOf(ctx, name)
		if len(replicas) == 2 {
			return "", err
		}
		return fmt.Sprintf("it has %d", len(replicas)), err
	}))
	out, err := w.StopWriting(ctx, name)
	require.NoError(t, err)
	t.Logf("%d moves, %d writes: %d lost, %d failed, %d misdirected, longest pause %s", moves, out.Writes, out.Lost, out.Failed,
		out.Misdirected, out.MaxPause)
	require.Zero(t, out.Lost+out.Doubled+out.Misdirected, out.Harm())
	require.Positive(t, out.Writes)
}

// K1: a guest that writes loses nothing in any number of moves, and each of them leaves as many replicas as there were.
func TestA10AV1VolumeMovesAgainAndAgainUnderWrites(t *testing.T) {
	ctx, w, name := writtenTo(t)
	for n := range *migrations {
		moveUnder(ctx, t, w, name, n)
	}
	unlost(ctx, t, w, name, *migrations)
}

// K1: attach-controller crashes while a v1 volume moves, at every step.
func TestA10AttachControllerCrashesWhileAV1VolumeMoves(t *testing.T) {
	ctx, w, name := writtenTo(t)
	controller, moves := w.Process(world.AttachController), 0
	for step, after := range []time.Duration{0, 50, 100, 200, 300, 450, 600, 900, 1300, 2000} {
		for range *crashed {
			ended := make(chan error, 1)
			go func() {
				select {
				case <-time.After(after * time.Millisecond):
				case <-ctx.Done():
				}
				ended <- controller.Crash()
			}()
			moveUnder(ctx, t, w, name, moves)
			require.NoError(t, <-ended, "step %d", step)
			moves++
		}
	}
	unlost(ctx, t, w, name, moves)
}
