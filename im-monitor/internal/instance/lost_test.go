package instance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// V2: an upgrade does not wait for a frontend that its new server lost.
func TestAFrontendThatAnUpgradeLostIsCreatedAgainWhereItsTargetServes(t *testing.T) {
	upgraded := func(w *World) {
		asFrontend(w)
		w.Object.Running, w.Object.Active, w.Node.Upgrading = true, true, true
		w.Status = was(v1beta2.InstanceStateRunning)
		w.Engines = map[string]EngineFacts{w.Object.Target.Engine: {UID: "uid", Address: "10.0.0.9:20001"}}
	}
	v := Decide(world(upgraded, absent))
	require.Equal(t, OpCreate, v.Call.Op)
	require.Equal(t, "10.0.0.9:20001", v.Call.Create.TargetAddress)
	require.Contains(t, v.Call.Lost, "lost the frontend of volume vol")
	v = Decide(world(upgraded))
	require.Equal(t, OpNone, v.Call.Op, "one list that lacks it proves nothing")
	require.True(t, v.ExpectAbsence)
	v = Decide(world(upgraded, lists(v1beta2.InstanceStatePending)))
	require.Equal(t, OpNone, v.Call.Op, "it is being recovered")
	v = Decide(world(upgraded, absent, func(w *World) { w.Engines = nil }))
	require.Equal(t, ReasonFrontendLost, v.Reason)
	require.Equal(t, OpNone, v.Call.Op, "its target does not serve")
	require.Equal(t, v1beta2.InstanceStateUnknown, v.Status.State)
	v = Decide(world(upgraded, absent, func(w *World) { w.Node.Upgrading = false }))
	require.Equal(t, v1beta2.InstanceStateError, v.Status.State, "without an upgrade it failed, and its volume is attached again")
	require.Empty(t, v.Call.Lost)
	v = Decide(world(upgraded, absent, func(w *World) { w.Status.Switchover = Switchover{Phase: phaseSwitching, Engine: "b"} }))
	require.Equal(t, v1beta2.InstanceStateError, v.Status.State, "both listeners may be closed: only a new attachment opens them")
}
