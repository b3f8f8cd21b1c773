package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestModesAreKeyedByReplicaName(t *testing.T) {
	for _, c := range []struct {
		name   string
		listed engine.Replica
		want   map[string]string
	}{
		{"a name that the engine reports is used", engine.Replica{Name: "a", Address: "tcp://" + at("a"), Mode: rw},
			map[string]string{"a": rw}},
		{"a replica without a name is found by its address", engine.Replica{Address: "tcp://" + at("a"), Mode: wo},
			map[string]string{"a": wo}},
		{"a replica without a known name is keyed by its address", engine.Replica{Address: "tcp://10.9.9.9:1", Mode: failed},
			map[string]string{"UNKNOWN-tcp://10.9.9.9:1": failed}},
		{"a name that the spec does not have is used, too", engine.Replica{Name: "z", Address: "tcp://" + at("z"), Mode: rw},
			map[string]string{"z": rw}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world("a")
			w.Seen.Replicas = []engine.Replica{c.listed}
			got := engine.Decide(w).Status
			require.Equal(t, c.want, got.ReplicaModeMap)
			require.Len(t, got.CurrentReplicaAddressMap, 1)
			for name := range c.want {
				require.NotContains(t, got.CurrentReplicaAddressMap[name], "tcp://")
			}
		})
	}
}

func TestAReplicaThatThePollDoesNotListHasNoMode(t *testing.T) {
	w := lists(world("a"), "a", rw)
	w.Engine.Status.ReplicaModeMap = map[string]string{"a": rw, "b": rw}
	w.Engine.Status.ReplicaTransitionTimeMap = map[string]string{"b": "2026-01-01T00:00:00Z"}
	got := engine.Decide(w).Status
	require.Equal(t, map[string]string{"a": rw}, got.ReplicaModeMap)
	require.NotContains(t, got.ReplicaTransitionTimeMap, "b")
}

func TestAModeHasTheTimeOfTheFirstPollThatReportedIt(t *testing.T) {
	const earlier = "2026-01-01T00:00:00Z"
	w := lists(lists(lists(world("a", "b", "c"), "a", rw), "b", rw), "c", rw)
	w.Engine.Status.ReplicaModeMap = map[string]string{"a": rw, "b": wo, "c": rw}
	w.Engine.Status.ReplicaTransitionTimeMap = map[string]string{"a": earlier, "b": earlier}
	at := now.Format(time.RFC3339)
	require.Equal(t, map[string]string{"a": earlier, "b": at, "c": at}, engine.Decide(w).Status.ReplicaTransitionTimeMap,
		"the same mode keeps its time, another one and one without a time get this poll's")
}

func TestAReplicaThatFailedToBeAddedThreeTimesCountsAsFailed(t *testing.T) {
	for failures, want := range map[int]string{0: "", 2: "", 3: failed, 7: failed} {
		w := lists(world("a", "b"), "a", rw)
		w.Failures = map[string]int{"b": failures}
		v := engine.Decide(w)
		require.Equal(t, want, v.Status.ReplicaModeMap["b"], "%d failures", failures)
		require.Equal(t, failures < 3, len(v.Calls) == 1, "%d failures", failures)
	}
}

func TestAnAbortedRebuildCountsAsFailedUntilItSucceeds(t *testing.T) {
	w := lists(lists(world("a", "b"), "a", rw), "b", wo)
	w.Failures = map[string]int{"b": engine.FailuresToErr}
	v := engine.Decide(w)
	require.Equal(t, failed, v.Status.ReplicaModeMap["b"])
	require.Empty(t, v.Calls, "attach-controller removes it from the spec first")
	w.Seen.Replicas[1].Mode = rw
	require.Equal(t, rw, engine.Decide(w).Status.ReplicaModeMap["b"])
}

func TestAPollKeepsFieldsThatItDidNotRequest(t *testing.T) {
	w := lists(world("a"), "a", rw)
	s := &w.Engine.Status
	w.Snapshots = nil
	s.Snapshots = map[string]v1beta2.SnapshotInfo{"one": {Name: "one"}}
	s.RestoreStatus = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {State: "complete"}}
	s.RebuildStatus = map[string]v1beta2.RebuildStatus{"tcp://" + at("a"): {State: "complete", Progress: 100},
		"tcp://" + at("b"): {State: "complete", Progress: 100}}
	got := engine.Decide(w).Status
	require.Equal(t, s.Snapshots, got.Snapshots)
	require.Equal(t, s.RestoreStatus, got.RestoreStatus)
	require.EqualValues(t, gib, got.CurrentSize)
	require.Equal(t, map[string]v1beta2.RebuildStatus{"tcp://" + at("a"): {State: "complete", Progress: 100}}, got.RebuildStatus,
		"except for a replica that is gone")
}

func TestTheSizeAndTheResultOfAnExpansionAreReported(t *testing.T) {
	w := lists(world("a"), "a", rw)
	w.Seen.Volume = &engine.Volume{Size: 5, Expanding: true, ExpansionError: "no", ExpansionAt: "then"}
	s := engine.Decide(w).Status
	require.EqualValues(t, 5, s.CurrentSize)
	require.True(t, s.IsExpanding)
	require.Equal(t, "no then", s.LastExpansionError+" "+s.LastExpansionFailedAt)
}

func TestAPollRequestIsAnsweredWithItself(t *testing.T) {
	rfc := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339Nano) }
	for _, c := range []struct{ name, asked, polled, want string }{
		{"no one asked", "", "", ""},
		{"no request, and an earlier answer stays", "", rfc(-time.Hour), rfc(-time.Hour)},
		{"the poll began after the request", rfc(-2 * time.Second), "", rfc(-2 * time.Second)},
		{"the requester's clock is ahead", rfc(time.Minute), "", rfc(time.Minute)},
		{"an answer to an earlier request is renewed", rfc(-2 * time.Second), rfc(-time.Hour), rfc(-2 * time.Second)},
		{"an answer by a clock that was ahead is corrected", rfc(-2 * time.Second), rfc(time.Hour), rfc(-2 * time.Second)},
		{"an answered request is not answered again", rfc(-time.Hour), rfc(-time.Hour), rfc(-time.Hour)},
		{"a request that is not a time is ignored", "soon", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			w.Engine.Spec.LookRequestedAt, w.Engine.Status.LookedAt = c.asked, c.polled
			require.Equal(t, c.want, engine.Decide(w).Status.LookedAt)
		})
	}
}

func TestTheNextPollComesSoonDuringAnOperation(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*engine.World)
		want   time.Duration
	}{
		{"a quiet engine is polled slowly", func(*engine.World) {}, period},
		{"a rebuild", func(w *engine.World) { *w = lists(*w, "b", wo) }, busy},
		{"a replica that failed", func(w *engine.World) { *w = lists(*w, "b", failed) }, busy},
		{"an addition", func(w *engine.World) { w.Adding = "b" }, busy},
		{"an expansion", func(w *engine.World) { w.Seen.Volume = &engine.Volume{Size: gib, Expanding: true} }, busy},
		{"a change is expected", func(w *engine.World) { w.Unsettled = now.Add(time.Second) }, busy},
		{"the change is no longer expected", func(w *engine.World) { w.Unsettled = now }, period},
		{"a replica is missing", func(w *engine.World) { w.Engine.Spec.ReplicaAddressMap["b"] = at("b") }, busy},
		{"a copy", func(w *engine.World) {
			w.Seen.Clones = map[string]v1beta2.SnapshotCloneStatus{"tcp://" + at("a"): {IsCloning: true, State: "in_progress"}}
		}, busy},
		{"a restore", func(w *engine.World) {
			w.Seen.Restores = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {IsRestoring: true}}
		}, busy},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := lists(world("a"), "a", rw)
			c.change(&w)
			require.Equal(t, c.want, engine.Decide(w).Next)
		})
	}
}

func TestAPurgeIsReportedInStepsAndPolledOften(t *testing.T) {
	w := lists(world("a"), "a", rw)
	w.Seen.Purges = map[string]v1beta2.PurgeStatus{"x": {IsPurging: true, Progress: 60, State: "in_progress"}}
	v := engine.Decide(w)
	require.Equal(t, map[string]v1beta2.PurgeStatus{"x": {IsPurging: true, Progress: 50, State: "in_progress"}}, v.Status.PurgeStatus)
	require.Equal(t, busy, v.Next)

	w.Seen.Purges = map[string]v1beta2.PurgeStatus{"x": {Progress: 100, State: "complete"}}
	v = engine.Decide(w)
	require.Equal(t, w.Seen.Purges, v.Status.PurgeStatus)
	require.Equal(t, period, v.Next)

	w.Engine.Status, w.Seen.Purges = v.Status, nil
	require.Equal(t, v.Status.PurgeStatus, engine.Decide(w).Status.PurgeStatus, "what was not asked for stays")
}
