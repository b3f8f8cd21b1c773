package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/volumesize"
)

func TestAnExpansionThatFailsSilentlyIsFoundInTwoPolls(t *testing.T) {
	poll := func(w engine.World, after time.Duration, v engine.Volume) (engine.World, engine.Verdict) {
		w.Seen.Began, w.Now, w.Seen.Volume = w.Seen.Began.Add(after), w.Now.Add(after), &v
		out := engine.Decide(w)
		w.Growth, w.Engine.Status = out.Growth, out.Status
		return w, out
	}
	begin := func() engine.World {
		w := lists(world("a"), "a", rw)
		w.Engine.Spec.VolumeSize, w.Growth = 2*gib, engine.Growth{To: 2 * gib}
		return w
	}
	same := engine.Volume{Size: gib, SnapshotMaxCount: 250}

	w, v := poll(begin(), busy, same)
	require.False(t, v.ExpansionFailed, "one poll is no proof")
	require.Empty(t, v.Calls, "the result of the first expansion is not known")
	w, v = poll(w, busy/2, same)
	require.False(t, v.ExpansionFailed)
	w, v = poll(w, busy/2, same)
	require.True(t, v.ExpansionFailed)
	require.NotEmpty(t, v.Status.LastExpansionFailedAt)
	require.Contains(t, v.Status.LastExpansionError, "snapshot limits")
	w, v = poll(w, busy, same)
	require.False(t, v.ExpansionFailed, "reported once")
	require.NotEmpty(t, v.Status.LastExpansionError, "the error stays")
	require.Equal(t, []engine.Call{{Op: engine.OpExpand, Size: 2 * gib}}, v.Calls, "the expansion is retried")
	_, v = poll(w, busy, engine.Volume{Size: 2 * gib, SnapshotMaxCount: 250})
	require.Empty(t, v.Status.LastExpansionError, "the error is removed once the size is reached")

	growing := same
	growing.Expanding = true
	w, _ = poll(begin(), busy, same)
	w, _ = poll(w, busy, growing)
	_, v = poll(w, time.Hour, same)
	require.False(t, v.ExpansionFailed, "it grew in between")

	reported := same
	reported.ExpansionError, reported.ExpansionAt = "no", "then"
	_, v = poll(begin(), busy, reported)
	require.Equal(t, "no then", v.Status.LastExpansionError+" "+v.Status.LastExpansionFailedAt, "the engine's own error is kept")
	require.Zero(t, v.Growth)
}

// T4, A3: the engine reports the size of its backends, the objects have the size for the user. The two are never compared with each
// other.
func TestNoSizeOfAnObjectIncludesTheLUKSHeader(t *testing.T) {
	const header = 16 << 20
	room := volumesize.Room(header)
	w := lists(world("a", "b"), "a", rw)
	w.Room, w.Seen.Volume = &room, &engine.Volume{Size: gib + header, SnapshotMaxCount: 250}
	v := engine.Decide(w)
	require.EqualValues(t, gib, v.Status.CurrentSize)
	require.Len(t, v.Calls, 1, "no expansion is due")
	require.Equal(t, engine.OpAdd, v.Calls[0].Op)
	require.EqualValues(t, gib+header, v.Calls[0].Size, "a replica is added with the size of the backends")
	w.Engine.Spec.VolumeSize = 2 * gib
	v = engine.Decide(w)
	require.Equal(t, engine.OpExpand, v.Calls[0].Op)
	require.EqualValues(t, 2*gib+header, v.Calls[0].Size)
}
