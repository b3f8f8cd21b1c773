package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
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
	w.Seen.Unanswered.Clones = true
	v := engine.Decide(w)
	require.Empty(t, v.Calls, "the engine may copy now")
	require.True(t, v.Going, "it is asked again soon")

	w = lists(world("a"), "a", rw)
	w.CleanUp, w.Snapshots["left"] = true, v1beta2.SnapshotInfo{Name: "left"}
	w.Engine.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://" + at("a"): {State: "complete"}}
	require.Len(t, engine.Decide(w).Calls, 1, "a rebuild has left a snapshot")
	w.Seen.Unanswered.Clones = true
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

// The engine asks its replicas, and fails as a whole if one of them does not answer it.
func TestAQuestionThatIsNotAnsweredKeepsTheLastAnswer(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", rw)
	s := &w.Engine.Status
	s.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {Name: "volume-head"}, "one": {Name: "one"}}
	s.IsExpanding, s.CurrentSize = true, gib
	s.PurgeStatus = map[string]v1beta2.PurgeStatus{"tcp://" + at("a"): {IsPurging: true}}
	s.ReplicaModeMap = map[string]string{"a": rw, "b": rw}
	before := s.DeepCopy()
	w.Snapshots, w.Seen.Unanswered = nil, engine.Unanswered{Snapshots: true, Volume: true, Purges: true}
	w.Seen.Replicas[1].Mode = failed
	v := engine.Decide(w)
	require.Equal(t, map[string]string{"a": rw, "b": failed}, v.Status.ReplicaModeMap, "the modes were answered")
	require.Equal(t, before.Snapshots, v.Status.Snapshots)
	require.Equal(t, before.PurgeStatus, v.Status.PurgeStatus)
	require.True(t, v.Status.IsExpanding)
	require.Empty(t, v.Calls)
	require.True(t, v.Going, "it is asked again soon")
}

func TestNoCallRestsOnAQuestionThatIsNotAnswered(t *testing.T) {
	for name, lost := range map[string]engine.Unanswered{
		"it may be at its limit of snapshots": {Snapshots: true}, "it may expand": {Volume: true}, "it may purge": {Purges: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := lists(world("a", "b"), "a", rw)
			require.Equal(t, []engine.Call{add("b")}, engine.Decide(w).Calls)
			w.Seen.Unanswered = lost
			require.Empty(t, engine.Decide(w).Calls)
			w.Engine.Spec.RequestedRevert, w.Engine.Spec.ReplicaAddressMap = "s@1", map[string]string{"a": at("a")}
			require.Equal(t, lost.Snapshots, len(engine.Decide(w).Calls) > 0, "a revert waits for an expansion and a purge")
		})
	}
	w := lists(lists(world("a"), "a", rw), "b", failed)
	w.Seen.Unanswered = engine.Unanswered{Snapshots: true, Volume: true, Rebuilds: true, Clones: true, Restores: true, Purges: true}
	require.Equal(t, []engine.Call{remove("b")}, engine.Decide(w).Calls, "a removal rests on the modes alone")
	w = lists(world("a"), "a", rw)
	w.Engine.Spec.SnapshotMaxCount = 20
	require.Len(t, engine.Decide(w).Calls, 1)
	w.Seen.Unanswered.Volume = true
	require.Empty(t, engine.Decide(w).Calls, "the limits are as of an earlier poll")
}

func TestARequestedPollIsAnsweredOnceItsSubjectIsKnown(t *testing.T) {
	asked := now.Format(time.RFC3339Nano)
	for name, c := range map[string]struct {
		lost     engine.Unanswered
		answered string
	}{
		"all is known":                {engine.Unanswered{}, asked},
		"the snapshots are not known": {engine.Unanswered{Snapshots: true}, asked},
		"the rebuilds are not known":  {engine.Unanswered{Rebuilds: true}, asked},
		"an expansion may have begun": {engine.Unanswered{Volume: true}, ""},
		"a purge may be in progress":  {engine.Unanswered{Purges: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			w.Engine.Spec.LookRequestedAt, w.Seen.Unanswered = asked, c.lost
			require.Equal(t, c.answered, engine.Decide(w).Status.LookedAt)
		})
	}
}

func TestAFailureStaysReportedWhileItIsNotKnownWhetherItsCallIsDue(t *testing.T) {
	for op, lost := range map[engine.Op]engine.Unanswered{engine.OpExpand: {Volume: true}, engine.OpPurge: {Snapshots: true},
		engine.OpClone: {Clones: true}, engine.OpRestore: {Restores: true}} {
		w := lists(world("a"), "a", rw)
		w.Failed = map[engine.Key]string{{Op: op}: "no"}
		reason := func() string { return conditions.Reason(engine.Decide(w).Status.Conditions, v1beta2.EngineOperations) }
		require.Empty(t, reason(), op)
		w.Seen.Unanswered = lost
		require.Equal(t, v1beta2.ReasonOperationFailed, reason(), op)
		w.Engine.Status.Conditions, w.Failed = engine.Decide(w).Status.Conditions, nil
		require.Equal(t, v1beta2.ReasonOperationFailed, reason(), "%s: a new leader does not know that it is over", op)
		w.Seen.Unanswered = engine.Unanswered{}
		require.Equal(t, v1beta2.ReasonNoOperationFails, reason(), op)
	}
}

// The list of replicas and the status of rebuilds are two answers: a rebuild that ends between them is in neither.
func TestARebuildThatEndsBetweenTwoAnswersOfAPollIsReportedAsComplete(t *testing.T) {
	where := "tcp://" + at("b")
	w := lists(lists(world("a", "b"), "a", rw), "b", wo)
	w.Engine.Status.RebuildStatus = map[string]v1beta2.RebuildStatus{where: {IsRebuilding: true, State: "in_progress", Progress: 40}}
	w.Seen.Rebuilds = map[string]v1beta2.RebuildStatus{}
	w.Engine.Status = engine.Decide(w).Status
	require.False(t, w.Engine.Status.RebuildStatus[where].IsRebuilding)
	w.Seen.Replicas, w.Seen.Rebuilds = nil, nil
	w = lists(lists(w, "a", rw), "b", rw)
	require.Equal(t, v1beta2.RebuildStatus{State: "complete", Progress: 100}, engine.Decide(w).Status.RebuildStatus[where])
}
