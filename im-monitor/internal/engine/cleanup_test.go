package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

// snapshots adds snapshots to what the engine lists: user's, or s for the system's.
func snapshots(w engine.World, names ...string) engine.World {
	for _, name := range names {
		w.Snapshots[name] = v1beta2.SnapshotInfo{Name: name, UserCreated: name[0] != 's'}
	}
	return w
}

func TestARebuildAtTheSnapshotLimitPurgesFirst(t *testing.T) {
	purge := []engine.Call{{Op: engine.OpPurge}}
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   []engine.Call
		held   bool
	}{
		{"below the limit it begins", func(w *engine.World) { w.Engine.Status.SnapshotMaxCount = 3 }, []engine.Call{add("b")}, false},
		{"system snapshots are purged first", func(*engine.World) {}, purge, false},
		{"one purge at a time", func(w *engine.World) { w.Seen.Purges = map[string]v1beta2.PurgeStatus{"x": {IsPurging: true}} }, nil,
			false},
		{"a purge was tried just now", func(w *engine.World) {
			w.Waits = map[engine.Key]time.Time{{Op: engine.OpPurge}: now.Add(1)}
		}, nil, false},
		{"the setting forbids it", func(w *engine.World) { w.CleanUp = false }, nil, true},
		{"only user snapshots exist", func(w *engine.World) { *w = snapshots(*w, "user-2"); delete(w.Snapshots, "sys") }, nil, true},
		{"the last purge was for the same snapshots", func(w *engine.World) { w.Purged = "sys" }, nil, true},
		{"and may not show yet", func(w *engine.World) {
			w.Purged, w.Waits = "sys", map[engine.Key]time.Time{{Op: engine.OpPurge}: now.Add(1)}
		}, nil, false},
		{"the last purge was for others", func(w *engine.World) { w.Purged = "sys-0" }, purge, false},
		{"the last purge left one that is marked as removed", func(w *engine.World) {
			*w = snapshots(*w, "user-2")
			w.Snapshots["sys"] = v1beta2.SnapshotInfo{Name: "sys", Removed: true, Children: map[string]bool{"user": true}}
			w.Purged = "sys"
		}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := snapshots(lists(world("a", "b"), "a", rw), "user", "sys")
			w.CleanUp, w.Engine.Status.SnapshotMaxCount, w.Engine.Spec.SnapshotMaxCount = true, 2, 2
			c.change(&w)
			w.Engine.Spec.SnapshotMaxCount = w.Engine.Status.SnapshotMaxCount
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, c.held, v.Held != "")
			if len(c.want) == 1 && c.want[0].Op == engine.OpPurge {
				require.Equal(t, "sys", v.Purged)
			}
			if c.held {
				require.Equal(t, period, v.Next, "no change is expected")
			}
		})
	}
}

// A v2 engine answers OK to a purge that fails.
func TestAPurgeWithoutEffectIsReportedAndNotRepeated(t *testing.T) {
	w := snapshots(lists(world("a", "b"), "a", rw), "user", "sys")
	w.CleanUp, w.Engine.Status.SnapshotMaxCount, w.Engine.Spec.SnapshotMaxCount = true, 2, 2
	w.Engine.Spec.DataEngine, w.Waits = v1beta2.DataEngineV2, map[engine.Key]time.Time{}
	purges, held := 0, 0
	hour := func() {
		for end := w.Now.Add(time.Hour); w.Now.Before(end); {
			v := engine.Decide(w)
			w.Engine.Status = v.Status
			for _, c := range v.Calls {
				require.Equal(t, engine.OpPurge, c.Op)
				purges++
				w.Waits[c.Key()], w.Purged = w.Now.Add(2*time.Second), v.Purged
			}
			if v.Held != "" {
				held++
				require.Equal(t, period, v.Next, "no change is expected")
			}
			w.Now = w.Now.Add(v.Next)
		}
	}
	hour()
	require.Equal(t, 1, purges)
	require.Greater(t, held, 1)
	w = snapshots(w, "sys-2")
	hour()
	require.Equal(t, 2, purges, "other snapshots are tried")
}

func TestSystemSnapshotsOfARebuildArePurgedOnceAfterIt(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   bool
	}{
		{"a replica was rebuilt", func(*engine.World) {}, true},
		{"none was rebuilt in this run", func(w *engine.World) {
			w.Engine.Status.RebuildStatus, w.Engine.Status.ReplicaModeMap = nil, map[string]string{"a": rw, "b": rw}
		}, false},
		{"this is the first poll of the run", func(w *engine.World) {
			w.Engine.Status.RebuildStatus, w.Engine.Status.ReplicaModeMap = nil, nil
		}, false},
		{"a replica was rebuilt between two polls", func(w *engine.World) { w.Engine.Status.RebuildStatus = nil }, true},
		{"a write-only replica was restored", func(w *engine.World) {
			w.Engine.Status.RebuildStatus, w.Engine.Status.ReplicaModeMap = nil, map[string]string{"a": rw, "b": wo}
		}, false},
		{"another one is missing", func(w *engine.World) { w.Engine.Spec.ReplicaAddressMap["c"] = at("c") }, false},
		{"the setting forbids it", func(w *engine.World) { w.CleanUp = false }, false},
		{"the same snapshots were purged before", func(w *engine.World) { w.Purged = "sys" }, false},
		{"other snapshots were purged before", func(w *engine.World) { w.Purged = "sys-0" }, true},
		{"they are marked already", func(w *engine.World) {
			w.Snapshots["sys"] = v1beta2.SnapshotInfo{Name: "sys", Removed: true, Children: map[string]bool{"volume-head": true}}
		}, false},
		{"only user snapshots exist", func(w *engine.World) { delete(w.Snapshots, "sys") }, false},
		{"the engine is not the volume's active one", func(w *engine.World) { w.Engine.Spec.Active = false }, false},
		{"of v2 one with two children stays", func(w *engine.World) {
			w.Engine.Spec.DataEngine = v1beta2.DataEngineV2
			w.Snapshots["sys"] = v1beta2.SnapshotInfo{Name: "sys", Children: map[string]bool{"user": true, "volume-head": true}}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := snapshots(lists(lists(world("a", "b"), "a", rw), "b", rw), "user", "sys")
			w.CleanUp, w.Engine.Spec.Active = true, true
			w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{} // a server reports the rebuilds of write-only replicas only
			w.Engine.Status.ReplicaModeMap = map[string]string{"a": rw}
			w.Engine.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://" + at("b"): {State: "in_progress", IsRebuilding: true}}
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
