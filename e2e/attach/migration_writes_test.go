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
	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// How many times a v1 volume moves under a guest that writes, and how many times the controllers crash on each side of each of their steps
// in a move: a longer run sets other numbers in the environment.
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
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, migratableV1))
	require.NoError(t, w.Ticket(ctx, name, "guest-"+near, v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "guest-"+near, true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.WriteOn(ctx, name, writesEvery))
	require.NoError(t, w.WaitWritten(ctx, name, patience))
	return ctx, w, name
}

// twoReplicas waits until a volume is healthy, and has two Replica objects: a migration that has ended left none of its second processes.
func twoReplicas(ctx context.Context, t *testing.T, w *world.World, name string) {
	t.Helper()
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Wait(ctx, "two replicas", patience, func(ctx context.Context) (string, error) {
		replicas, err := w.ReplicasOf(ctx, name)
		if len(replicas) == 2 {
			return "", err
		}
		return fmt.Sprintf("it has %d", len(replicas)), err
	}))
}

// unlost ends the workload and requires that every write that was acknowledged is read.
func unlost(ctx context.Context, t *testing.T, w *world.World, name string, moves int) {
	t.Helper()
	twoReplicas(ctx, t, w, name)
	out, err := w.StopWriting(ctx, name)
	require.NoError(t, err)
	t.Logf("%d times, %d writes: %d lost, %d failed, %d misdirected, longest pause %s", moves, out.Writes, out.Lost, out.Failed,
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

// crashStride is the number of steps between two crashes in one move: enough for a controller to make progress after each.
const crashStride = 6

// sampledFrom is the step from which the controllers crash in the moves of a usual run: together they have every sixth step. A run with
// DROVER_CRASHED_MIGRATIONS=n has each step n times.
const sampledFrom = 3

// K1: attach-controller and im-monitor crash before and after their writes and calls while a v1 volume moves.
func TestA10ControllersCrashAtTheStepsOfAMove(t *testing.T) {
	each := numberIn(t, crashedVariable, 0)
	ctx, w, name := writtenTo(t, 20+80*each)
	w.Sequence.Reset(nil)
	moves := 0
	move := func() {
		moveUnder(ctx, t, w, name, moves)
		twoReplicas(ctx, t, w, name)
		moves++
	}
	move()
	steps := map[string]int{}
	for _, actor := range []string{world.AttachController, world.IMMonitor} {
		require.Positive(t, w.StepsOf(actor), "%s does nothing in a move", actor)
		steps[actor] = w.StepsOf(actor)
	}
	crashes := map[string]int{}
	for actor := range steps {
		for first := 1; first <= crashStride; first++ {
			times := each
			if each == 0 && first == sampledFrom {
				times = 1
			}
			for range 2 * times {
				side := record.Side(moves % 2)
				w.Sequence.Reset(nil)
				count := w.CrashEach(actor, first, crashStride, side, patience, func() {
					if err := w.Process(actor).Crash(); err != nil {
						t.Errorf("%s does not start again: %v", actor, err)
					}
				})
				move()
				w.Sequence.Reset(nil)
				crashes[actor] += count()
			}
		}
	}
	t.Logf("a move has these steps: %v; the controllers crashed so often: %v", steps, crashes)
	for actor, count := range crashes {
		require.Positive(t, count, "%s never crashed", actor)
	}
	unlost(ctx, t, w, name, moves)
}
