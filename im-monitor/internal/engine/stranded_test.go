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
		{"the engine is to be restored", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.RequestedBackupRestore = "b-1"
		}, false},
		{"the engine was restored", func(w *engine.World, _ map[string]v1beta2.RebuildStatus) {
			w.Engine.Spec.RequestedBackupRestore, w.Engine.Status.LastRestoredBackup = "b-1", "b-1"
		}, true},
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
	w.Engine.Status.LastRestoredBackup = "b-1"
	require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls)
}
