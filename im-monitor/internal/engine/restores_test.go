package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

// A v1 engine lists an error alone where it could not ask a replica, which may restore on.
func TestAQuestionThatAReplicaDidNotAnswerIsNoFailedRestore(t *testing.T) {
	where := "tcp://" + at("a")
	bare := v1beta2.RestoreStatus{Error: "Failed to get restoring status on " + where + ": connection refused"}
	running := v1beta2.RestoreStatus{IsRestoring: true, State: "in_progress", Progress: 40, BackupURL: "s3://b@r/?backup=b-1&volume=v"}
	complete := v1beta2.RestoreStatus{State: "complete", LastRestored: "b-1"}
	w := lists(world("a"), "a", rw)
	w.Engine.Spec.RequestedBackupRestore = "b-1"
	for i, step := range []struct {
		seen, want v1beta2.RestoreStatus
		last       string
	}{{running, running, ""}, {bare, running, ""}, {bare, running, ""}, {running, running, ""}, {complete, complete, "b-1"},
		{bare, complete, "b-1"}} {
		w.Seen.Restores = map[string]v1beta2.RestoreStatus{where: step.seen}
		v := engine.Decide(w)
		require.Equal(t, map[string]v1beta2.RestoreStatus{where: step.want}, v.Status.RestoreStatus, "poll %d", i)
		require.Equal(t, step.last, v.Status.LastRestoredBackup, "poll %d", i)
		require.Empty(t, v.Calls, "poll %d", i)
		w.Engine = w.Engine.DeepCopy()
		w.Engine.Status = v.Status
	}
}

func TestWhatAReplicaRestoresIsNotKnownBeforeItsFirstAnswer(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", rw)
	w.Engine.Spec.RequestedBackupRestore = "b-1"
	w.Seen.Restores = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {Error: "Failed to get restoring status on a: no"},
		"tcp://" + at("b"): {}}
	v := engine.Decide(w)
	require.Empty(t, v.Calls, "it may have begun")
	require.True(t, v.Going, "it is asked again soon")
	require.Equal(t, map[string]v1beta2.RestoreStatus{"tcp://" + at("b"): {}}, v.Status.RestoreStatus)

	w.Seen.Restores["tcp://"+at("b")] = v1beta2.RestoreStatus{LastRestored: "b-1", State: "complete"}
	require.Empty(t, engine.Decide(w).Status.LastRestoredBackup, "whether all have it is not known")

	w.Seen.Restores["tcp://"+at("a")] = v1beta2.RestoreStatus{Error: "no space", State: "error", BackupURL: "s3://b@r/?backup=b-1&volume=v"}
	require.Equal(t, "no space", engine.Decide(w).Status.RestoreStatus["tcp://"+at("a")].Error, "a failure has a state")
}
