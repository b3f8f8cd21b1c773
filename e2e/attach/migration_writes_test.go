//go:build !fast

package attach

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// How many times a v1 volume moves under a guest that writes, and for each moment at which attach-controller crashes: a longer run sets
// other numbers in the environment.
const migrationsVariable, crashedVariable = "DROVER_MIGRATIONS", "DROVER_CRASHED_MIGRATIONS"

// numberIn returns a number from the environment, else the other one.
func numberIn(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

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
func writtenTo(t *testing.T, moves int) (context.Context, *world.World, string) {
	t.Helper()
	ctx, w := harness.Empty(t, here, 4*time.Minute+time.Duration(moves)*10*time.Second), here
	name := world.Unique("moved")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, func(s *v1beta2.VolumeSpec) {
		migratable(s)
		s.RevisionCounterDisabled = true // see docs/limits.md
	}))
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
	moves := numberIn(t, migrationsVariable, 3)
	ctx, w, name := writtenTo(t, moves)
	for n := range moves {
		moveUnder(ctx, t, w, name, n)
	}
	unlost(ctx, t, w, name, moves)
}

// K1: attach-controller crashes while a v1 volume moves, at every step.
func TestA10AttachControllerCrashesWhileAV1VolumeMoves(t *testing.T) {
	each := numberIn(t, crashedVariable, 1)
	ctx, w, name := writtenTo(t, 10*each)
	controller, moves := w.Process(world.AttachController), 0
	for step, after := range []time.Duration{0, 50, 100, 200, 300, 450, 600, 900, 1300, 2000} {
		for range each {
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
