//go:build !fast

package snapshot

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// S4: a crash between a call and the write of its result leaves exactly one snapshot. [SNP-2]
func TestS4ACrashBetweenCallAndStatusLeavesExactlyOne(t *testing.T) {
	for _, c := range []struct{ name, actor, step string }{
		{"im-monitor dies when the engine took it, before it writes the status", world.IMMonitor, taking},
		{"snapshot-controller dies when its approval was written, before it has the answer", world.SnapshotController, "snapshots/status"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, w := fixture(t)
			vol, name := volume(t, ctx, v1beta2.DataEngineV1, true), world.Unique("snap")
			require.NoError(t, w.Quiet(ctx, patience))
			w.Sequence.Reset(func(s record.Step) bool { return s.Actor == c.actor && strings.Contains(s.What, c.step) })
			t.Cleanup(func() { w.Sequence.Reset(nil) })
			w.Sequence.CutAt(1, record.After, func(record.Step) record.Verdict {
				if err := w.Process(c.actor).Crash(); err != nil {
					t.Errorf("restarting %s: %v", c.actor, err)
				}
				return record.Drop
			})
			require.NoError(t, w.Snapshot(ctx, vol, name))
			ready(t, ctx, name)
			require.True(t, w.Sequence.Cut(), "no process was killed")
			require.Equal(t, 1, calls(t, ctx, vol, taking))
			list, err := w.SnapshotsOf(ctx, vol)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.NoError(t, w.NoHarm(ctx))
		})
	}
}
