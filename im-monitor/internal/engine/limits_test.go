package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestARunningEngineGetsTheLimitsOfItsSpec(t *testing.T) {
	all := []engine.Call{{Op: engine.OpMaxCount, Limit: 20}, {Op: engine.OpMaxSize, Limit: gib}, {Op: engine.OpUnmapMark, On: true}, {Op: engine.OpRebuildLimit, Limit: 3}}
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   []engine.Call
	}{
		{"what differs is set", func(*engine.World) {}, all},
		{"v2 has the number alone", func(w *engine.World) { w.Engine.Spec.DataEngine = v1beta2.DataEngineV2 }, all[:1]},
		{"an engine that does not know the limit of rebuilds", func(w *engine.World) { w.Seen.Volume.RebuildLimit = 0 }, all[:3]},
		{"an engine that is too old to tell", func(w *engine.World) { w.Seen.Volume.SnapshotMaxCount = 0 }, nil},
		{"it was tried just now", func(w *engine.World) { w.Waits = map[engine.Key]time.Time{{Op: engine.OpMaxCount}: now.Add(1)} }, all[1:]},
		{"during a rebuild as well", func(w *engine.World) { *w = lists(*w, "b", wo); w.Engine.Spec.ReplicaAddressMap["b"] = at("b") }, all},
		{"all is as it should be", func(w *engine.World) {
			w.Seen.Volume.SnapshotMaxCount, w.Seen.Volume.SnapshotMaxSize, w.Seen.Volume.UnmapMark, w.Seen.Volume.RebuildLimit = 20, gib, true, 3
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			s := &w.Engine.Spec
			s.SnapshotMaxCount, s.SnapshotMaxSize, s.UnmapMarkSnapChainRemovedEnabled, s.RebuildConcurrentSyncLimit = 20, gib, true, 3
			w.Seen.Volume = &engine.Volume{Size: gib, SnapshotMaxCount: 250, RebuildLimit: 1}
			c.change(&w)
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, w.Seen.Volume.SnapshotMaxCount, v.Status.SnapshotMaxCount)
			require.Equal(t, w.Seen.Volume.SnapshotMaxSize, v.Status.SnapshotMaxSize)
			require.Equal(t, w.Seen.Volume.UnmapMark, v.Status.UnmapMarkSnapChainRemovedEnabled)
		})
	}
}

func TestAnEngineIsAskedForItsLimitsWhenTheyDiffer(t *testing.T) {
	e := world("a").Engine
	e.Status.ReplicaModeMap = map[string]string{"a": rw}
	require.Equal(t, engine.Questions{}, engine.Ask(e, false, false, false))
	e.Spec.SnapshotMaxCount = 20
	require.Equal(t, engine.Questions{Volume: true}, engine.Ask(e, false, false, false))
	e.Status.SnapshotMaxCount, e.Spec.RebuildConcurrentSyncLimit = 20, 2
	require.Equal(t, engine.Questions{RebuildLimit: true}, engine.Ask(e, false, false, false))
}

// snapshots adds snapshots to what the engine lists: user's, or s for the system's.
func snapshots(w engine.World, names ...string) engine.World {
	for _, name := range names {
		w.Seen.Snapshots[name] = v1beta2.SnapshotInfo{Name: name, UserCreated: name[0] != 's'}
	}
	return w
}

func TestARebuildAtTheSnapshotLimitMakesRoomFirst(t *testing.T) {
	purge := []engine.Call{{Op: engine.OpPurge}}
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   []engine.Call
		held   bool
	}{
		{"below the limit it begins", func(w *engine.World) { w.Engine.Status.SnapshotMaxCount = 3 }, []engine.Call{add("b")}, false},
		{"system snapshots are purged first", func(*engine.World) {}, purge, false},
		{"one purge at a time", func(w *engine.World) { w.Seen.Purges = map[string]v1beta2.PurgeStatus{"x": {IsPurging: true}} }, nil, false},
		{"a purge was tried just now", func(w *engine.World) { w.Waits = map[engine.Key]time.Time{{Op: engine.OpPurge}: now.Add(1)} }, nil, false},
		{"the setting forbids it", func(w *engine.World) { w.CleanUp = false }, nil, true},
		{"there are users' alone", func(w *engine.World) { *w = snapshots(*w, "user-2"); delete(w.Seen.Snapshots, "sys") }, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := snapshots(lists(world("a", "b"), "a", rw), "user", "sys")
			w.CleanUp, w.Engine.Status.SnapshotMaxCount, w.Engine.Spec.SnapshotMaxCount = true, 2, 2
			c.change(&w)
			w.Engine.Spec.SnapshotMaxCount = w.Engine.Status.SnapshotMaxCount
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, c.held, v.Held != "")
			if c.held {
				require.Equal(t, period, v.Next, "nothing is expected to happen by itself")
			}
		})
	}
}

func TestWhatARebuildLeavesIsPurgedOnceAfterIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   bool
	}{
		{"a replica was rebuilt", func(*engine.World) {}, true},
		{"none was rebuilt in this run", func(w *engine.World) { w.Seen.Rebuilds = nil }, false},
		{"another one is missing", func(w *engine.World) { w.Engine.Spec.ReplicaAddressMap["c"] = at("c") }, false},
		{"the setting forbids it", func(w *engine.World) { w.CleanUp = false }, false},
		{"the same were purged before", func(w *engine.World) { w.Purged = "sys" }, false},
		{"others were purged before", func(w *engine.World) { w.Purged = "sys-0" }, true},
		{"they are marked already", func(w *engine.World) {
			w.Seen.Snapshots["sys"] = v1beta2.SnapshotInfo{Name: "sys", Removed: true, Children: map[string]bool{"volume-head": true}}
		}, false},
		{"there are users' alone", func(w *engine.World) { delete(w.Seen.Snapshots, "sys") }, false},
		{"the engine is not the volume's active one", func(w *engine.World) { w.Engine.Spec.Active = false }, false},
		{"of v2 one with two children stays", func(w *engine.World) {
			w.Engine.Spec.DataEngine = v1beta2.DataEngineV2
			w.Seen.Snapshots["sys"] = v1beta2.SnapshotInfo{Name: "sys", Children: map[string]bool{"user": true, "volume-head": true}}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := snapshots(lists(lists(world("a", "b"), "a", rw), "b", rw), "user", "sys")
			w.CleanUp, w.Engine.Spec.Active = true, true
			w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{"tcp://" + at("b"): {State: "complete", Progress: 100}}
			c.change(&w)
			v := engine.Decide(w)
			purged := false
			for _, call := range v.Calls {
				purged = purged || call.Op == engine.OpPurge
			}
			require.Equal(t, c.want, purged)
			require.Equal(t, c.want, v.Purged != "")
		})
	}
}

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
	require.False(t, v.ExpansionFailed, "one poll is not enough")
	require.Empty(t, v.Calls, "what became of the first is not known")
	w, v = poll(w, busy/2, same)
	require.False(t, v.ExpansionFailed)
	w, v = poll(w, busy/2, same)
	require.True(t, v.ExpansionFailed)
	require.NotEmpty(t, v.Status.LastExpansionFailedAt)
	require.Contains(t, v.Status.LastExpansionError, "snapshot limits")
	w, v = poll(w, busy, same)
	require.False(t, v.ExpansionFailed, "told once")
	require.NotEmpty(t, v.Status.LastExpansionError, "and remembered")
	require.Equal(t, []engine.Call{{Op: engine.OpExpand, Size: 2 * gib}}, v.Calls, "and tried again")
	_, v = poll(w, busy, engine.Volume{Size: 2 * gib, SnapshotMaxCount: 250})
	require.Empty(t, v.Status.LastExpansionError, "until it has the size")

	growing := same
	growing.Expanding = true
	w, _ = poll(begin(), busy, same)
	w, _ = poll(w, busy, growing)
	_, v = poll(w, time.Hour, same)
	require.False(t, v.ExpansionFailed, "it grew in between")

	told := same
	told.ExpansionError, told.ExpansionAt = "no", "then"
	_, v = poll(begin(), busy, told)
	require.Equal(t, "no then", v.Status.LastExpansionError+" "+v.Status.LastExpansionFailedAt, "its own words are better")
	require.Zero(t, v.Growth)
}
