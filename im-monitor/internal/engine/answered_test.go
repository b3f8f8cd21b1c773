package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

// A v1 engine lists an error alone for a replica that did not answer. The replica may go on with its copy.
func TestAQuestionThatAReplicaDidNotAnswerIsNoFailedCopy(t *testing.T) {
	where := "tcp://" + at("a")
	alone := v1beta2.SnapshotCloneStatus{Error: "Failed to get clone status on " + where + ": connection refused"}
	running := v1beta2.SnapshotCloneStatus{IsCloning: true, State: "in_progress", Progress: 40, SnapshotName: "s"}
	complete := v1beta2.SnapshotCloneStatus{State: "complete", Progress: 100, SnapshotName: "s"}
	w := lists(world("a"), "a", rw)
	w.Engine.Spec.RequestedDataSource = "snap://other/s"
	for i, step := range []struct{ seen, want v1beta2.SnapshotCloneStatus }{{running, running}, {alone, running}, {alone, running},
		{complete, complete}, {alone, complete}} {
		w.Seen.Clones = map[string]v1beta2.SnapshotCloneStatus{where: step.seen}
		v := engine.Decide(w)
		require.Equal(t, map[string]v1beta2.SnapshotCloneStatus{where: step.want}, v.Status.CloneStatus, "poll %d", i)
		require.Empty(t, v.Calls, "poll %d", i)
		w.Engine = w.Engine.DeepCopy()
		w.Engine.Status = v.Status
	}
}

func TestWhatAReplicaCopiesIsNotKnownBeforeItsFirstAnswer(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", rw)
	w.Engine.Spec.RequestedDataSource = "snap://other/s"
	w.Seen.Clones = map[string]v1beta2.SnapshotCloneStatus{"tcp://" + at("a"): {Error: "no answer"}, "tcp://" + at("b"): {}}
	v := engine.Decide(w)
	require.Empty(t, v.Calls, "it may have begun")
	require.True(t, v.Going, "it is asked again soon")

	w.Seen.Clones["tcp://"+at("b")] = v1beta2.SnapshotCloneStatus{State: "complete"}
	status := engine.Decide(w).Status.CloneStatus
	require.Equal(t, map[string]v1beta2.SnapshotCloneStatus{"tcp://" + at("a"): {}, "tcp://" + at("b"): {State: "complete"}}, status,
		"the copy is not complete before all have answered")

	w.Seen.Clones["tcp://"+at("a")] = v1beta2.SnapshotCloneStatus{Error: "no space", State: "error"}
	require.Equal(t, "no space", engine.Decide(w).Status.CloneStatus["tcp://"+at("a")].Error, "a failure has a state")
}

func TestARebuildThatIsNotAnsweredKeepsItsProgress(t *testing.T) {
	where := "tcp://" + at("b")
	w := lists(lists(world("a", "b"), "a", rw), "b", wo)
	running := v1beta2.RebuildStatus{IsRebuilding: true, State: "in_progress", Progress: 40}
	w.Engine.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{where: running}
	w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{where: {Error: "no answer"}}
	require.Equal(t, running, engine.Decide(w).Status.RebuildStatus[where], "an answer that lacks is no progress, and no end")
	w.Engine.Status.RebuildStatus = nil
	require.Empty(t, engine.Decide(w).Status.RebuildStatus)
}

func TestAPurgeThatIsNotAnsweredGoesOn(t *testing.T) {
	e := world("a").Engine
	running := map[string]v1beta2.PurgeStatus{"tcp://a": {IsPurging: true, State: "in_progress"}}
	silent := map[string]v1beta2.PurgeStatus{"tcp://a": {Error: "no answer"}}
	require.Empty(t, engine.KnownPurges(e, silent), "it is no failed purge")
	require.Nil(t, engine.KnownPurges(e, nil), "it was not asked")
	e.Status.PurgeStatus = running
	require.Equal(t, running, engine.KnownPurges(e, silent))
	failed := map[string]v1beta2.PurgeStatus{"tcp://a": {Error: "disk on fire", State: "error"}}
	require.Equal(t, failed, engine.KnownPurges(e, failed))
}

// A v1 engine answers a question with an error alone if a replica hangs. The copy may go on meanwhile.
func TestBesideACopyOfUnknownStateNoReplicaIsAddedAndNoSnapshotIsPurged(t *testing.T) {
	w := lists(world("a", "b"), "a", rw)
	w.Engine.Spec.RequestedDataSource = "snap://other/s"
	require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls)
	w.Seen.Unanswered = true
	v := engine.Decide(w)
	require.Empty(t, v.Calls, "the engine may copy now")
	require.True(t, v.Going, "it is asked again soon")

	w = lists(world("a"), "a", rw)
	w.CleanUp, w.Snapshots["left"] = true, v1beta2.SnapshotInfo{Name: "left"}
	w.Engine.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://" + at("a"): {State: "complete"}}
	require.Len(t, engine.Decide(w).Calls, 1, "a rebuild has left a snapshot")
	w.Seen.Unanswered = true
	require.Empty(t, engine.Decide(w).Calls)
}

func TestBesideARebuildOfUnknownStateNothingIsRestored(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", wo)
	w.Engine.Spec.RequestedBackupRestore, w.Engine.Status.LastRestoredBackup = "b-1", "b-1"
	w.Seen.Restores = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {LastRestored: "b-1"}, "tcp://" + at("b"): {}}
	require.Empty(t, engine.Decide(w).Calls)
	w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{"tcp://" + at("b"): {}}
	require.Equal(t, []engine.Call{{Op: engine.OpRestore}}, engine.Decide(w).Calls)
}
