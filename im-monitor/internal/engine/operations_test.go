package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// operations is the condition that follows from a poll; nil is none.
func operations(w engine.World) *v1beta2.Condition {
	return conditions.Get(engine.Decide(w).Status.Conditions, v1beta2.EngineOperations)
}

// fails adds a call that was refused and has to wait.
func fails(w engine.World, key engine.Key) engine.World {
	w.Waits, w.Failed = map[engine.Key]time.Time{key: now.Add(time.Second)}, map[engine.Key]string{key: "out of luck."}
	return w
}

func TestAFailedCallIsReportedWithTheEnginesAnswer(t *testing.T) {
	two := func() engine.World { return lists(world("a", "b"), "a", rw) }
	alone := func() engine.World { return lists(world("a"), "a", rw) }
	for text, w := range map[string]engine.World{
		"vol-e-0 could not add replica b: out of luck. It is tried again.": fails(two(),
			engine.Key{Op: engine.OpAdd, Name: "b"}),
		"vol-e-0 could not remove replica b: out of luck. It is tried again.": fails(lists(alone(), "b", failed),
			engine.Key{Op: engine.OpRemove, Name: "b"}),
		"vol-e-0 could not change a limit (set-unmap-mark): out of luck. It is tried again.": fails(unmapMark(alone()),
			engine.Key{Op: engine.OpUnmapMark}),
		"vol-e-0 could not begin to grow: out of luck. It is tried again.": fails(grown(alone()),
			engine.Key{Op: engine.OpExpand}),
		"vol-e-0 could not begin to copy snap://other/s: out of luck. It is tried again.": fails(copies(alone()),
			engine.Key{Op: engine.OpClone}),
		"vol-e-0 could not begin to restore backup bak-1: out of luck. It is tried again.": fails(restores(alone()),
			engine.Key{Op: engine.OpRestore}),
		"vol-e-0 could not revert to one@2026-01-01T00:00:00Z: out of luck. It is tried again.": fails(reverts(alone()),
			engine.Key{Op: engine.OpRevert}),
	} {
		c := operations(w)
		require.NotNil(t, c, text)
		require.Equal(t, v1beta2.ConditionFalse, c.Status)
		require.Equal(t, v1beta2.ReasonOperationFailed, c.Reason)
		require.Equal(t, text, c.Message)
	}
	w := fails(two(), engine.Key{Op: engine.OpAdd, Name: "b"})
	w.Failures = map[string]int{"b": engine.FailuresToErr}
	require.Equal(t, "vol-e-0 could not add replica b: out of luck. It is not tried again: the replica is marked as failed.",
		operations(w).Message)
}

func TestAFailedCallIsReportedWhileAnotherCallGoesFirst(t *testing.T) {
	w := lists(lists(world("a", "c"), "a", rw), "b", failed)
	refused := engine.Key{Op: engine.OpAdd, Name: "c"}
	w = fails(w, refused)
	w.Waits[engine.Key{Op: engine.OpRemove, Name: "b"}] = now.Add(time.Second)
	text := operations(w).Message
	require.Equal(t, "vol-e-0 could not add replica c: out of luck. It is tried again.", text)
	w.Waits = nil
	require.Equal(t, engine.OpRemove, engine.Decide(w).Calls[0].Op)
	require.Equal(t, text, operations(w).Message, "the removal goes first")
}

func TestTheOperationsConditionEndsOnlyWithTheFailedCall(t *testing.T) {
	require.Nil(t, operations(lists(world("a", "b"), "a", rw)), "nothing has failed")

	w := fails(lists(world("a", "b"), "a", rw), engine.Key{Op: engine.OpAdd, Name: "b"})
	w.Engine.Status = engine.Decide(w).Status
	before := *operations(w)

	w.Failed = nil
	require.Equal(t, before, *operations(w), "a new leader has not tried it yet")
	w.Adding = "b"
	require.Equal(t, before, *operations(w), "it is being tried")
	w.Adding = ""
	require.Equal(t, before, *operations(fails(w, engine.Key{Op: engine.OpRemove, Name: "z"})), "a call that is not due is not reported")

	w.Room = nil
	require.Equal(t, before, *operations(w), "it is not known whether the replica can be added")
	w.Room = new(volumesize.Room)
	w.Engine.Status.SnapshotMaxCount = 1
	w.Snapshots = map[string]v1beta2.SnapshotInfo{"volume-head": {Name: "volume-head"}, "a": {Name: "a", UserCreated: true},
		"b": {Name: "b", UserCreated: true}}
	require.NotEmpty(t, engine.Decide(w).Held)
	require.Equal(t, before, *operations(w), "a limit keeps it from being tried")
	w.Snapshots, w.Engine.Status.SnapshotMaxCount = nil, 250

	done := lists(w, "b", rw)
	require.Equal(t, v1beta2.ReasonNoOperationFails, operations(done).Reason)
	require.Equal(t, v1beta2.ConditionTrue, operations(done).Status)
	done.Engine = done.Engine.DeepCopy()
	done.Engine.Status = engine.Decide(done).Status
	require.Equal(t, done.Engine.Status.Conditions, engine.Decide(done).Status.Conditions, "it is written once")
}

func TestAFailureEndsWithTheRunOfTheEngine(t *testing.T) {
	e := world("a").Engine
	e.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.EngineOperations, Status: v1beta2.ConditionFalse},
		{Type: v1beta2.InstanceCreation}}
	e.Spec.DesireState, e.Status.CurrentState = v1beta2.InstanceStateStopped, v1beta2.InstanceStateStopped
	require.Len(t, engine.Ended(e).Conditions, 2, "attach-controller reads the conditions while it detaches the volume")
	e.Spec.ReplicaAddressMap = nil
	require.Equal(t, []v1beta2.Condition{{Type: v1beta2.InstanceCreation}}, engine.Ended(e).Conditions)
}

func unmapMark(w engine.World) engine.World {
	w.Engine.Spec.UnmapMarkSnapChainRemovedEnabled = true
	return w
}

func grown(w engine.World) engine.World {
	w.Engine.Spec.VolumeSize = 2 * gib
	w.Seen.Volume = &engine.Volume{Size: volumesize.Backend(gib), SnapshotMaxCount: 250}
	return w
}

func copies(w engine.World) engine.World {
	w.Engine.Spec.RequestedDataSource, w.Seen.Clones = "snap://other/s", map[string]v1beta2.SnapshotCloneStatus{}
	return w
}

func restores(w engine.World) engine.World {
	w.Engine.Spec.RequestedBackupRestore, w.Seen.Restores = "bak-1", map[string]v1beta2.RestoreStatus{}
	return w
}

func reverts(w engine.World) engine.World {
	w.Engine.Spec.RequestedRevert, w.Engine.Spec.Active = "one@2026-01-01T00:00:00Z", true
	return w
}
