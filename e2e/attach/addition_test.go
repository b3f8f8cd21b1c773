//go:build !fast

package attach

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// crashedAdditions names the variable with the number of times that im-monitor crashes on each side of each of its steps in the addition of
// a replica; a usual run has one step.
const crashedAdditions = "DROVER_CRASHED_ADDITIONS"

// K2: im-monitor crashes at its steps in the addition of a v1 replica, and at moments within the call that copies the data: the volume is
// whole again each time, and a guest that writes meanwhile loses nothing.
func TestA9IMMonitorCrashesWhileAReplicaIsAdded(t *testing.T) {
	each := numberIn(t, crashedAdditions, 0)
	ctx, w, name := writtenTo(t, 30+50*each)
	w.Sequence.Reset(nil)
	rebuild(ctx, t, w, name)
	steps, rebuilds := w.StepsOf(world.IMMonitor), 1
	crashes := 0
	crashed := func(after time.Duration, at func(record.Step) bool, side record.Side, verdict record.Verdict) {
		w.Sequence.Reset(nil)
		ended := make(chan error, 1)
		w.Sequence.CutWhere(at, side, true, func(record.Step) record.Verdict {
			if after == 0 {
				ended <- w.Process(world.IMMonitor).Crash()
			} else {
				time.AfterFunc(after, func() { ended <- w.Process(world.IMMonitor).Crash() })
			}
			return verdict
		})
		rebuild(ctx, t, w, name)
		rebuilds++
		if w.Sequence.Cut() { // else this rebuild had fewer steps
			require.NoError(t, <-ended)
			crashes++
		}
	}
	for own := 1; own <= steps; own++ {
		times := each
		if each == 0 && own == sampledFrom {
			times = 1
		}
		for range times {
			for _, side := range []record.Side{record.Before, record.After} {
				crashed(0, func(s record.Step) bool { return s.Actor == world.IMMonitor && s.Own == own }, side, record.Drop)
			}
		}
	}
	// A real engine begins to copy after 3 s, and goes on for at least 6 s.
	for _, moment := range []time.Duration{100 * time.Millisecond, 5 * time.Second} {
		crashed(moment, func(s record.Step) bool { return strings.HasPrefix(s.What, "ReplicaAdd") }, record.Before, record.Pass)
	}
	w.Sequence.Reset(nil)
	added, err := w.EngineCalls(ctx, name, "ReplicaAdd")
	require.NoError(t, err)
	require.Positive(t, crashes)
	t.Logf("an addition has %d steps; im-monitor crashed %d times in %d rebuilds, which took %d additions", steps, crashes, rebuilds, added)
	unlost(ctx, t, w, name, rebuilds)
}

// rebuild kills the process of a replica, and returns when the volume has two replicas again.
func rebuild(ctx context.Context, t *testing.T, w *world.World, name string) {
	t.Helper()
	lost, err := w.ReplicasOf(ctx, name)
	require.NoError(t, err)
	require.Len(t, lost, 2)
	require.NoError(t, w.KillInstance(ctx, lost[1].Spec.NodeID, lost[1].Name))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
	twoReplicas(ctx, t, w, name)
}
