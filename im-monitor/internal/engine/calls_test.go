package engine_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestReplicasAreAddedAndRemovedAsTheSpecRequires(t *testing.T) {
	for _, c := range []struct {
		name string
		w    func() engine.World
		want []engine.Call
	}{
		{"a replica of the spec that is listed gets no call",
			func() engine.World { return lists(lists(world("a", "b"), "a", rw), "b", rw) }, nil},
		{"a missing one is added", func() engine.World { return lists(world("a", "b"), "a", rw) }, []engine.Call{add("b")}},
		{"of two missing ones the first is added", func() engine.World { return lists(world("a", "b", "c"), "a", rw) },
			[]engine.Call{add("b")}},
		{"none is added while one is being rebuilt", func() engine.World { return lists(lists(world("a", "b", "c"), "a", rw), "b", wo) },
			nil},
		{"none is added while a call of this process adds one", func() engine.World {
			w := lists(world("a", "b", "c"), "a", rw)
			w.Adding = "b"
			return w
		}, nil},
		{"none is added where there is nothing to rebuild from", func() engine.World { return lists(world("a", "b"), "a", failed) }, nil},
		{"none is added to an engine that lists nothing", func() engine.World { return world("a", "b") }, nil},
		{"one that has to wait lets the next one go first", func() engine.World {
			w := lists(world("a", "b", "c"), "a", rw)
			w.Waits = map[engine.Key]time.Time{{Op: engine.OpAdd, Name: "b"}: now.Add(time.Second)}
			return w
		}, []engine.Call{add("c")}},
		{"a replica whose wait is over is added", func() engine.World {
			w := lists(world("a", "b"), "a", rw)
			w.Waits = map[engine.Key]time.Time{{Op: engine.OpAdd, Name: "b"}: now}
			return w
		}, []engine.Call{add("b")}},
		{"a failed replica of the spec is removed by attach-controller, not here",
			func() engine.World { return lists(lists(world("a", "b"), "a", rw), "b", failed) }, nil},
		{"a replica that the spec lacks is removed", func() engine.World { return lists(lists(world("a"), "a", rw), "b", failed) },
			[]engine.Call{remove("b")}},
		{"a replica that the spec lacks is removed in any mode",
			func() engine.World { return lists(lists(lists(world("a"), "a", rw), "b", rw), "c", wo) },
			[]engine.Call{remove("b"), remove("c")}},
		{"nothing is removed while no replica of the spec is RW",
			func() engine.World { return lists(lists(world("a"), "a", wo), "b", rw) }, nil},
		{"nothing is removed while the only replica of the spec failed",
			func() engine.World { return lists(lists(world("a"), "a", failed), "b", rw) }, nil},
		{"a removal waits for its retry", func() engine.World {
			w := lists(lists(world("a"), "a", rw), "b", failed)
			w.Waits = map[engine.Key]time.Time{remove("b").Key(): now.Add(time.Second)}
			return w
		}, nil},
		{"an addition that the spec no longer has is removed", func() engine.World {
			w := lists(lists(world("a"), "a", rw), "b", wo)
			w.Adding = "b"
			return w
		}, []engine.Call{remove("b")}},
		{"removals precede additions, and are not combined with them",
			func() engine.World { return lists(lists(world("a", "c"), "a", rw), "b", failed) },
			[]engine.Call{remove("b")}},
		{"one with a new address is removed before it is added again", func() engine.World {
			w := lists(world("a", "b"), "a", rw)
			w.Seen.Replicas = append(w.Seen.Replicas, engine.Replica{Name: "b", Address: "tcp://10.9.9.9:1", Mode: failed})
			return w
		}, []engine.Call{{Op: engine.OpRemove, Name: "b", Address: "tcp://10.9.9.9:1"}}},
		{"one without a known name is removed by its address", func() engine.World {
			w := lists(world("a"), "a", rw)
			w.Seen.Replicas = append(w.Seen.Replicas, engine.Replica{Address: "tcp://10.9.9.9:1", Mode: failed})
			return w
		}, []engine.Call{{Op: engine.OpRemove, Address: "tcp://10.9.9.9:1"}}},
		{"a removal by address waits under that address", func() engine.World {
			w := lists(world("a"), "a", rw)
			w.Seen.Replicas = append(w.Seen.Replicas, engine.Replica{Address: "tcp://10.9.9.9:1", Mode: failed})
			w.Waits = map[engine.Key]time.Time{{Op: engine.OpRemove, Name: "tcp://10.9.9.9:1"}: now.Add(time.Second)}
			return w
		}, nil},
		{"an addition carries the present size of the volume", func() engine.World {
			w := lists(world("a", "b"), "a", rw)
			w.Engine.Status.CurrentSize, w.Engine.Spec.VolumeSize = 7, 9
			return w
		}, []engine.Call{{Op: engine.OpAdd, Name: "b", Address: at("b"), Size: 7}}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, engine.Decide(c.w()).Calls) })
	}
}

func TestAVolumeIsExpandedOnceWhenNoOtherOperationRuns(t *testing.T) {
	grow := []engine.Call{{Op: engine.OpExpand, Size: 2 * gib}}
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   []engine.Call
	}{
		{"a volume that is too small grows", func(*engine.World) {}, grow},
		{"one that has the size does not", func(w *engine.World) { w.Seen.Volume.Size = 2 * gib }, nil},
		{"one that is larger never shrinks", func(w *engine.World) { w.Seen.Volume.Size = 3 * gib }, nil},
		{"one that is being expanded gets no call", func(w *engine.World) { w.Seen.Volume.Expanding = true }, nil},
		{"one whose size was not polled does not", func(w *engine.World) { w.Seen.Volume = nil }, nil},
		{"none during a rebuild", func(w *engine.World) { *w = lists(*w, "b", wo); w.Engine.Spec.ReplicaAddressMap["b"] = at("b") }, nil},
		{"none again before the wait is over",
			func(w *engine.World) { w.Waits = map[engine.Key]time.Time{{Op: engine.OpExpand}: now.Add(1)} }, nil},
		{"an expansion precedes an addition", func(w *engine.World) { w.Engine.Spec.ReplicaAddressMap["b"] = at("b") }, grow},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			w.Engine.Spec.VolumeSize = 2 * gib
			w.Seen.Volume = &engine.Volume{Size: gib}
			c.change(&w)
			require.Equal(t, c.want, engine.Decide(w).Calls)
		})
	}
}

func TestACopyIsBegunOnceAndItsResultStays(t *testing.T) {
	address := "tcp://" + at("a")
	one := func(s v1beta2.SnapshotCloneStatus) map[string]v1beta2.SnapshotCloneStatus {
		return map[string]v1beta2.SnapshotCloneStatus{address: s}
	}
	begin := []engine.Call{{Op: engine.OpClone, Volume: "other", Snapshot: "snap-1"}}
	none := map[string]v1beta2.SnapshotCloneStatus{}
	done := one(v1beta2.SnapshotCloneStatus{State: "complete", Progress: 100})
	under := one(v1beta2.SnapshotCloneStatus{State: "in_progress", IsCloning: true, Progress: 4})
	for _, c := range []struct {
		name         string
		known, seen  map[string]v1beta2.SnapshotCloneStatus
		want         []engine.Call
		status       map[string]v1beta2.SnapshotCloneStatus
		waits, noAsk bool
		source       string
	}{
		{name: "nothing was begun", seen: none, want: begin},
		{name: "a server that lists replicas which copied nothing", seen: one(v1beta2.SnapshotCloneStatus{}), want: begin},
		{name: "a copy is under way", seen: under, status: under},
		{name: "a copy ended", known: under, seen: done, status: done},
		{name: "a copy failed, and attach-controller decides", seen: one(v1beta2.SnapshotCloneStatus{State: "error", Error: "no"}),
			status: one(v1beta2.SnapshotCloneStatus{State: "error", Error: "no"})},
		{name: "the engine runs again after the end", known: done, seen: none, status: done},
		{name: "the engine ran again in the middle", known: under, seen: none, want: begin, status: under},
		{name: "it was begun a moment ago", seen: none, waits: true},
		{name: "no request", noAsk: true},
		{name: "the source has the prefix vol://", source: "vol://other/snap-1", seen: none, want: begin},
		{name: "the source names no snapshot", source: "vol://other", seen: none},
		{name: "the source has no prefix", source: "other/snap-1", seen: none},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			w.Engine.Spec.RequestedDataSource, w.Engine.Status.CloneStatus = cmp.Or(c.source, "snap://other/snap-1"), c.known
			if w.Seen.Clones = c.seen; c.waits {
				w.Waits = map[engine.Key]time.Time{{Op: engine.OpClone}: now.Add(time.Second)}
			}
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, c.status, v.Status.CloneStatus)
		})
	}
}

func TestARestoreIsBegunOnceAndItsBackupIsReportedWhenAllReplicasHaveIt(t *testing.T) {
	begin := []engine.Call{{Op: engine.OpRestore}}
	type status = v1beta2.RestoreStatus
	for _, c := range []struct {
		name string
		seen map[string]status
		want []engine.Call
		last string
	}{
		{"nothing was begun", map[string]status{}, begin, ""},
		{"servers that list replicas which restored nothing", map[string]status{"x": {}}, begin, ""},
		{"another backup was restored earlier", map[string]status{"x": {LastRestored: "b-0"}}, begin, ""},
		{"it is under way", map[string]status{"x": {IsRestoring: true}}, nil, ""},
		{"one replica has it", map[string]status{"x": {LastRestored: "b-1"}, "y": {IsRestoring: true}}, nil, ""},
		{"all have it", map[string]status{"x": {LastRestored: "b-1"}, "y": {LastRestored: "b-1"}}, nil, "b-1"},
		{"one failed, and attach-controller decides", map[string]status{"x": {LastRestored: "b-1"}, "y": {Error: "no"}}, nil, ""},
		{"an earlier backup failed", map[string]status{"x": {Error: "no", BackupURL: "s3://b@r/?backup=b-0&volume=v"}}, begin, ""},
		{"this backup failed", map[string]status{"x": {Error: "no", BackupURL: "s3://b@r/?backup=b-1&volume=v"}}, nil, ""},
		{"no request", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			w.Engine.Spec.RequestedBackupRestore, w.Seen.Restores = "b-1", c.seen
			v := engine.Decide(w)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, c.last, v.Status.LastRestoredBackup)
		})
	}
}

func TestAReplicaThatFailedARestoreInAnEarlierRunRestoresAgain(t *testing.T) {
	w := lists(world("a"), "a", rw)
	w.Engine.Spec.RequestedBackupRestore = "b-1"
	w.Engine.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {Error: "no"}}
	w.Seen.Restores = map[string]v1beta2.RestoreStatus{}
	v := engine.Decide(w)
	require.Empty(t, v.Status.RestoreStatus, "an error of an earlier run is dropped")
	require.Equal(t, []engine.Call{{Op: engine.OpRestore}}, v.Calls)
	w.Seen.Restores = nil
	require.NotEmpty(t, engine.Decide(w).Status.RestoreStatus, "a field that was not polled stays")
}

func TestAQuietEngineIsPolledForReplicasAndSnapshotsOnly(t *testing.T) {
	quiet := func() *v1beta2.Engine {
		e := world("a").Engine
		e.Status.ReplicaModeMap = map[string]string{"a": rw}
		return e
	}
	cloneOf := func(state string) map[string]v1beta2.SnapshotCloneStatus {
		return map[string]v1beta2.SnapshotCloneStatus{"x": {State: state}}
	}
	for _, c := range []struct {
		name          string
		change        func(*v1beta2.Engine)
		first, adding bool
		want          engine.Questions
		purging       bool
	}{
		{"a quiet engine", func(*v1beta2.Engine) {}, false, false, engine.Questions{}, false},
		{"the first poll of a process", func(*v1beta2.Engine) {}, true, false, engine.Questions{Volume: true}, false},
		{"a size that differs from the spec", func(e *v1beta2.Engine) { e.Spec.VolumeSize = 3 }, false, false,
			engine.Questions{Volume: true}, false},
		{"an expansion", func(e *v1beta2.Engine) { e.Status.IsExpanding = true }, false, false, engine.Questions{Volume: true}, false},
		{"an addition by this process", func(*v1beta2.Engine) {}, false, true, engine.Questions{Rebuilds: true}, false},
		{"a replica that is not RW", func(e *v1beta2.Engine) { e.Status.ReplicaModeMap["a"] = wo }, false, false,
			engine.Questions{Rebuilds: true}, false},
		{"a rebuild whose end was not polled", func(e *v1beta2.Engine) {
			e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"x": {IsRebuilding: true}}
		}, false, false, engine.Questions{Rebuilds: true}, false},
		{"a rebuild that ended", func(e *v1beta2.Engine) {
			e.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"x": {State: "complete"}}
		}, false, false, engine.Questions{}, false},
		{"a requested copy", func(e *v1beta2.Engine) { e.Spec.RequestedDataSource = "snap://v/s" }, false, false,
			engine.Questions{Clones: true}, false},
		{"a copy under way", func(e *v1beta2.Engine) {
			e.Spec.RequestedDataSource, e.Status.CloneStatus = "snap://v/s", cloneOf("in_progress")
		}, false, false, engine.Questions{Clones: true}, false},
		{"a copy that ended", func(e *v1beta2.Engine) {
			e.Spec.RequestedDataSource, e.Status.CloneStatus = "snap://v/s", cloneOf("complete")
		}, false, false, engine.Questions{}, false},
		{"a requested restore", func(e *v1beta2.Engine) { e.Spec.RequestedBackupRestore = "b" }, false, false,
			engine.Questions{Restores: true}, false},
		{"a restore that is done", func(e *v1beta2.Engine) { e.Spec.RequestedBackupRestore, e.Status.LastRestoredBackup = "b", "b" }, false,
			false, engine.Questions{}, false},
		{"snapshots being removed", func(*v1beta2.Engine) {}, false, false, engine.Questions{Purges: true}, true},
		{"a purge whose end was not polled", func(e *v1beta2.Engine) {
			e.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{"x": {IsPurging: true}}
		}, false, false, engine.Questions{Purges: true}, false},
		{"a v2 engine, which reports no purge", func(e *v1beta2.Engine) { e.Spec.DataEngine = v1beta2.DataEngineV2 }, false, false,
			engine.Questions{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := quiet()
			c.change(e)
			require.Equal(t, c.want, engine.Ask(e, c.first, c.adding, c.purging))
		})
	}
}

func TestNoReplicaIsAddedDuringAPurge(t *testing.T) {
	w := lists(world("a", "b"), "a", rw)
	w.Seen.Purges = map[string]v1beta2.PurgeStatus{"tcp://" + at("a"): {IsPurging: true}}
	require.Empty(t, engine.Decide(w).Calls, "the engine refuses the addition, and failures count")
	w.Seen.Purges["tcp://"+at("a")] = v1beta2.PurgeStatus{State: "complete"}
	require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls)
}

func TestAnEngineIsAskedToRevertOnce(t *testing.T) {
	w := lists(world("a"), "a", rw)
	w.Engine.Spec.Active, w.Engine.Spec.RequestedRevert = true, "snap-1@2026-03-04T05:00:00Z"
	revert := engine.Call{Op: engine.OpRevert, Snapshot: "snap-1"}
	require.Equal(t, []engine.Call{revert}, engine.Decide(w).Calls)
	w.Waits = map[engine.Key]time.Time{revert.Key(): now.Add(time.Second)}
	require.Empty(t, engine.Decide(w).Calls, "not again at once")
	w.Waits = nil
	w.Engine.Status.LastRevert = w.Engine.Spec.RequestedRevert
	require.Empty(t, engine.Decide(w).Calls, "an answered request is not repeated")
	w.Engine.Status.LastRevert = "snap-1@2026-03-03T05:00:00Z"
	w = lists(w, "b", wo)
	w.Engine.Spec.ReplicaAddressMap["b"] = at("b")
	require.Empty(t, engine.Decide(w).Calls, "not while a replica is rebuilt")
}
