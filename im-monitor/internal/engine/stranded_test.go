package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAWriteOnlyReplicaWhoseRebuildHasEndedCountsAsFailedAtTheSecondPoll(t *testing.T) {
	complete := v1beta2.RebuildStatus{State: "complete", Progress: 100}
	for _, c := range []struct {
		name     string
		change   func(*engine.World, map[string]v1beta2.RebuildStatus)
		stranded bool
	}{
		{"it is complete", func(*engine.World, map[string]v1beta2.RebuildStatus) {}, true},
		{"it has failed", func(_ *engine.World, all map[string]v1beta2.RebuildStatus) {
			all["tcp://"+at("b")] = v1beta2.RebuildStatus{State: "error", Error: "no"}
		}, true},
		{"its copy never began", func(_ *engine.World, all map[string]v1beta2.RebuildStatus) {
			all["tcp://"+at("b")] = v1beta2.RebuildStatus{}
		}, true},
		{"it did not answer the server", func(_ *engine.World, all map[string]v1beta2.RebuildStatus) {
			all["tcp://"+at("b")] = v1beta2.RebuildStatus{Error: "failed to get replica rebuild status"}
		}, false},
		{"it is in progress", func(_ *engine.World, all map[string]v1beta2.RebuildStatus) {
			all["tcp://"+at("b")] = v1beta2.RebuildStatus{State: "in_progress", IsRebuilding: true, Progress: 99}
		}, false},
		{"the map of rebuilds lacks it", func(_ *engine.World, all map[string]v1beta2.RebuildStatus) { delete(all, "tcp://"+at("b")) },
			false},
		{"rebuilds were not asked for", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) { w.Seen.Rebuilds = nil }, false},
		{"a call of this process is open", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) { w.Adding = "b" }, false},
		{"the engine is to be restored, which it refuses beside such a replica", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.RequestedBackupRestore = "b-1"
		}, true},
		{"it waits for a restore", func(w *engine.World, all map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.RequestedBackupRestore, all["tcp://"+at("b")] = "b-1", v1beta2.RebuildStatus{}
		}, false},
		{"it waits for the restore of a backup that the others have", func(w *engine.World, all map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.RequestedBackupRestore, w.Engine.Status.LastRestoredBackup = "b-1", "b-1"
			all["tcp://"+at("b")] = v1beta2.RebuildStatus{}
		}, false},
		{"a v2 replica", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.DataEngine = v1beta2.DataEngineV2
		}, false},
		{"it is RW meanwhile", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) { w.Seen.Replicas[1].Mode = rw }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(lists(world("a", "b"), "a", rw), "b", wo)
			w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{"tcp://" + at("b"): complete}
			c.change(&w, w.Seen.Rebuilds)
			before := w.Seen.Replicas[1].Mode
			v := engine.Decide(w)
			require.Empty(t, v.Stranded, "one poll is not enough")
			require.Equal(t, before, v.Status.ReplicaModeMap["b"])
			w.Over, w.Seen.Began = v.Over, w.Seen.Began.Add(busy/2)
			v = engine.Decide(w)
			require.Empty(t, v.Stranded, "two polls in one moment are one")
			w.Over, w.Seen.Began = v.Over, w.Seen.Began.Add(busy/2)
			v = engine.Decide(w)
			if !c.stranded {
				require.Empty(t, v.Stranded)
				require.Equal(t, before, v.Status.ReplicaModeMap["b"])
				return
			}
			require.Equal(t, []string{"b"}, v.Stranded)
			require.Equal(t, failed, v.Status.ReplicaModeMap["b"])
			require.Empty(t, v.Calls, "its owner takes it out of the spec first")

			delete(w.Engine.Spec.ReplicaAddressMap, "b")
			w.Over, w.Seen.Began = v.Over, w.Seen.Began.Add(busy)
			require.Equal(t, []engine.Call{remove("b")}, engine.Decide(w).Calls)
		})
	}
}

func TestAReplicaWhoseRebuildContinuesInBetweenIsNotStranded(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", wo)
	where := "tcp://" + at("b")
	for i, state := range []string{"complete", "in_progress", "complete"} {
		w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{where: {State: state, IsRebuilding: state == "in_progress"}}
		w.Seen.Began = now.Add(time.Duration(i) * time.Minute)
		v := engine.Decide(w)
		require.Empty(t, v.Stranded)
		w.Over = v.Over
	}
}

func TestNoReplicaIsAddedDuringARestore(t *testing.T) {
	w := lists(world("a", "b"), "a", rw)
	w.Engine.Spec.RequestedBackupRestore = "b-1"
	w.Seen.Restores = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {IsRestoring: true}}
	require.Empty(t, engine.Decide(w).Calls)
	w.Seen.Restores = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {LastRestored: "b-1"}}
	require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls)
	w.Engine.Spec.RequestedBackupRestore = "b-2"
	require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls, "before the next restore, since there may always be one")
	w.Waits = map[engine.Key]time.Time{add("b").Key(): now.Add(time.Second)}
	require.Equal(t, []engine.Call{{Op: engine.OpRestore}}, engine.Decide(w).Calls, "but one that has to wait delays no restore")
}

// B3: a restore fills the replica with the backup of the other replicas, and the engine reads from it once it is verified.
func TestAReplicaOfAStandbyVolumeIsFilledAndVerified(t *testing.T) {
	a, b := "tcp://"+at("a"), "tcp://"+at("b")
	standby := func(change ...func(*engine.World)) engine.World {
		w := lists(lists(world("a", "b"), "a", rw), "b", wo)
		w.Engine.Spec.RequestedBackupRestore, w.Engine.Status.LastRestoredBackup = "b-1", "b-1"
		w.Seen.Restores = map[string]v1beta2.RestoreStatus{a: {LastRestored: "b-1"}, b: {}}
		w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{b: {}}
		for _, c := range change {
			c(&w)
		}
		return w
	}
	is := func(where string, s v1beta2.RestoreStatus) func(*engine.World) {
		return func(w *engine.World) { w.Seen.Restores[where] = s }
	}
	restore, verify := engine.Call{Op: engine.OpRestore}, engine.Call{Op: engine.OpVerify, Name: "b", Address: at("b")}
	for name, c := range map[string]struct {
		world engine.World
		want  []engine.Call
	}{
		"it is filled with the backup of the others": {standby(), []engine.Call{restore}},
		"it is being filled":                         {standby(is(b, v1beta2.RestoreStatus{IsRestoring: true})), nil},
		"it is verified once it has the backup":      {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-1"})), []engine.Call{verify}},
		"not while another one restores": {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-1"}),
			is(a, v1beta2.RestoreStatus{IsRestoring: true, LastRestored: "b-1"})), nil},
		"it failed: its owner marks it": {standby(is(b, v1beta2.RestoreStatus{Error: "no"})), nil},
		"not with an error":             {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-1", Error: "no"})), nil},
		"it has an earlier backup than the others": {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-0"})),
			[]engine.Call{restore}},
		"the next backup comes first": {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-1"}),
			func(w *engine.World) { w.Engine.Spec.RequestedBackupRestore = "b-2" }), []engine.Call{restore}},
		"one that does not answer is waited for": {standby(is(b, v1beta2.RestoreStatus{Error: "Failed to get restoring status"})), nil},
		"one that is rebuilt is not restored": {standby(func(w *engine.World) {
			w.Seen.Rebuilds[b] = v1beta2.RebuildStatus{State: "in_progress", IsRebuilding: true}
		}), nil},
		"v2 rebuilds it": {standby(func(w *engine.World) { w.Engine.Spec.DataEngine = v1beta2.DataEngineV2 }), nil},
		"it is not wanted any more": {standby(is(b, v1beta2.RestoreStatus{LastRestored: "b-1"}),
			func(w *engine.World) { delete(w.Engine.Spec.ReplicaAddressMap, "b") }), []engine.Call{remove("b")}},
	} {
		t.Run(name, func(t *testing.T) {
			v := engine.Decide(c.world)
			require.Equal(t, c.want, v.Calls)
			require.Equal(t, "b-1", v.Status.LastRestoredBackup, "what is not read does not count")
			require.True(t, engine.Ask(c.world.Engine, false, false, false).Restores, "it is asked about as long as a replica is not read")
		})
	}
}
