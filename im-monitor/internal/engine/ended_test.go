package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheCloneStatusIsDroppedWhenTheEngineHasEndedAndTheCloneIsNotRequested(t *testing.T) {
	e := world("a").Engine
	e.Spec.DesireState, e.Status.CurrentState, e.Spec.RequestedDataSource = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped,
		"snap://other/s"
	e.Status.CloneStatus = map[string]v1beta2.SnapshotCloneStatus{"tcp://" + at("a"): {State: "error", Error: "no"}}
	require.NotEmpty(t, engine.Ended(e).CloneStatus)
	e.Spec.RequestedDataSource = ""
	require.Empty(t, engine.Ended(e).CloneStatus)
}

// Purges of a node are counted by what its engines report: one that ended while it purged would count for ever.
func TestAnEngineThatEndedNeitherPurgesNorExpands(t *testing.T) {
	const where = "tcp://10.0.0.1:10000"
	for state, ended := range map[string]bool{"": true, v1beta2.InstanceStateStopped: true, v1beta2.InstanceStateError: true,
		v1beta2.InstanceStateStarting: true, v1beta2.InstanceStateRunning: false, v1beta2.InstanceStateStopping: false,
		v1beta2.InstanceStateUnknown: false} {
		e := world("a").Engine
		e.Spec.DesireState, e.Status.CurrentState, e.Status.IsExpanding = v1beta2.InstanceStateStopped, state, true
		e.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{where: {IsPurging: true, State: "in_progress"}}
		got := engine.Ended(e)
		require.Equal(t, ended, !got.IsExpanding, state)
		require.Equal(t, ended, got.PurgeStatus == nil, state)

		e.Status.IsExpanding = false
		e.Status.PurgeStatus = map[string]v1beta2.PurgeStatus{where: {State: "complete"}}
		require.Equal(t, state != v1beta2.InstanceStateStarting, engine.Ended(startsIf(e, state)).PurgeStatus != nil,
			"%s: a purge that ended costs no write of its own", state)
	}
}

// startsIf lets an engine that is starting be one that must run.
func startsIf(e *v1beta2.Engine, state string) *v1beta2.Engine {
	if state == v1beta2.InstanceStateStarting {
		e.Spec.DesireState = v1beta2.InstanceStateRunning
	}
	return e
}

func TestTheStatusOfAnEngineStaysUntilTheVolumeIsDetachedOrTheNextRunBegins(t *testing.T) {
	const running, stopped, starting, broken, unknown = v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped,
		v1beta2.InstanceStateStarting,
		v1beta2.InstanceStateError, v1beta2.InstanceStateUnknown
	for _, c := range []struct {
		name, desired, state string
		starting, emptied    bool
		stays                bool
	}{
		{"an engine that stops", stopped, running, false, false, true},
		{"an engine that was stopped and has its map", stopped, stopped, false, false, true},
		{"an engine that was stopped and whose map was emptied", stopped, stopped, false, true, false},
		{"an engine that is not proven stopped", stopped, unknown, false, true, true},
		{"an engine that failed", running, broken, false, false, true},
		{"an engine whose state is unknown", running, unknown, false, false, true},
		{"an engine that must run and is not starting yet", running, stopped, false, false, true},
		{"an engine whose next run is recorded as starting", running, stopped, true, false, false},
		{"an engine whose next run begins", running, starting, false, false, false},
		{"an engine that runs", running, running, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := world("a").Engine
			if c.emptied {
				e.Spec.ReplicaAddressMap = nil
			}
			e.Spec.DesireState, e.Status.CurrentState, e.Status.Starting = c.desired, c.state, c.starting
			e.Status.ReplicaModeMap, e.Status.ReplicaTransitionTimeMap = map[string]string{"a": failed}, map[string]string{"a": "then"}
			e.Status.RestoreStatus = map[string]v1beta2.RestoreStatus{"tcp://" + at("a"): {Error: "no"}}
			e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {}}
			got := engine.Ended(e)
			require.Equal(t, c.stays, got.ReplicaModeMap != nil)
			require.Equal(t, c.stays, got.ReplicaTransitionTimeMap != nil)
			require.Equal(t, c.stays || c.emptied, got.RestoreStatus != nil)
			require.Equal(t, e.Status.Snapshots, got.Snapshots)
			require.EqualValues(t, gib, got.CurrentSize)
			e.Status = got
			require.Equal(t, got, engine.Ended(e))
		})
	}
}
