package nodeupgrade_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// attaching is the volume on its way to the node: no engine runs yet.
func attaching(s *scene) {
	s.Volumes["vol"].Status.State = v1beta2.VolumeStateAttaching
	s.Engines["vol-e-0"].Status.CurrentState = v1beta2.InstanceStateStopped
}

// unseen is the volume attached to another node whose instance manager is unreachable: only its replica is on this one.
func unseen(s *scene) {
	s.Volumes["vol"].Spec.NodeID, s.Volumes["vol"].Status.CurrentNodeID = "node-3", "node-3"
	s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
	s.Engines["vol-e-0"].Spec.NodeID, s.Engines["vol-e-0"].Status.CurrentState = "node-3", v1beta2.InstanceStateUnknown
}

func notRelocated(s *scene) {
	s.set(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID = "" })
	s.Volumes["vol"].Spec.TargetNodeID, s.Volumes["vol"].Status.CurrentTargetNodeID = "", ""
}

func TestWhatWasNeverSentAwayKeepsNoNodeClosed(t *testing.T) {
	run(t, map[string]row{
		"a volume that waits for the node to be uncordoned": {from: rolling, change: func(s *scene) { notRelocated(s); attaching(s) },
			to:      rolling,
			effects: effects(opens)},
		"forward, too": {from: back, change: func(s *scene) { notRelocated(s); attaching(s) }, to: rebuilding},
		"a replica of a volume whose own node is unreachable": {from: rolling, change: func(s *scene) { notRelocated(s); unseen(s) },
			to: rolling, effects: effects(opens)},
		"nor one that was relocated and is attached there now": {from: back, change: unseen, to: rebuilding},
		"an engine that is still here does": {from: rolling,
			change: func(s *scene) { unseen(s); s.Engines["vol-e-0"].Spec.NodeID = "node-1" }, to: rolling,
			reason: v1beta2.ReasonWaitingForTarget},
	})
}

func TestANodeThatGoesAwayEndsItsUpgrade(t *testing.T) {
	gone := func(s *scene) {
		delete(s.Nodes, "node-1")
		for name, m := range s.Managers {
			if m.Spec.NodeID == "node-1" {
				delete(s.Managers, name)
			}
		}
	}
	lateAndGone := func(s *scene) { gone(s); s.late() }
	run(t, map[string]row{
		"it is reported, and what to do":         {from: over, change: gone, to: over, reason: v1beta2.ReasonTakingNode},
		"before a target moved":                  {from: initializing, change: lateAndGone, to: rolling},
		"while targets move":                     {from: over, change: lateAndGone, to: rolling},
		"while replicas leave":                   {from: detaching, change: lateAndGone, to: rolling},
		"while its instance manager is replaced": {from: replacing, change: gone, to: rolling},
		"what is attached there waits for its user, by name": {from: rolling, change: gone, to: rolling,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"also on the way back": {from: back, change: gone, to: back,
			reason: v1beta2.ReasonWaitingForInstanceManager},
		"and detached it is the end": {from: rolling, change: func(s *scene) { gone(s); s.DetachVolume("vol") },
			to: failed, effects: effects(sends(""))},
	})
	s := at(replacing, gone)
	s.stale = true
	require.True(t, s.decide().Confirm, "that it is gone is read uncached")
}

func TestAClosedNodeIsBroughtToRightsBeforeAnotherUpgradeTakesIt(t *testing.T) {
	closed := func(s *scene) { s.Nodes["node-1"].Spec.UpgradeRequested = true }
	run(t, map[string]row{
		"cordoned by an upgrade that does not exist": {from: undefined, change: closed, to: undefined, reason: v1beta2.ReasonTakingNode},
		"and given up it opens nothing":              {from: failed, change: func(s *scene) { s.u.Status.Volumes = nil }, to: failed},
		"also with nothing left to do": {from: undefined, change: func(s *scene) { closed(s); s.replace() }, to: undefined,
			reason: v1beta2.ReasonTakingNode},
	})
}

func TestAnUpgradeWithoutAFinalizerGetsOneFirst(t *testing.T) {
	for _, state := range []string{undefined, over, back} {
		s := at(state, func(s *scene) { s.u.Finalizers = nil })
		v := s.decide()
		require.True(t, v.AddFinalizer, state)
		require.Empty(t, v.Effects, state)
		s.delete()
		require.False(t, s.decide().AddFinalizer, "a finalizer cannot be added to an object that is being deleted")
	}
	require.False(t, at(completed, func(s *scene) { s.u.Finalizers = nil }).decide().AddFinalizer)
}

func TestALookIsAskedForOnceWhateverTheClocksSay(t *testing.T) {
	s := at(initializing, func(s *scene) { s.u.Status.StateSince = now.Add(time.Hour).Format(time.RFC3339Nano) })
	asked := s.decide().Effects
	require.Len(t, asked, 1)
	s.Engines["vol-e-0"].Spec.LookRequestedAt = asked[0].At.Format(time.RFC3339Nano)
	require.Empty(t, s.decide().Effects, "a leader whose clock was ahead named the time of the state")
}

func TestThatNothingIsLeftToDoIsReadPastTheCache(t *testing.T) {
	s := at(undefined, (*scene).replace)
	s.stale = true
	require.True(t, s.decide().Confirm)
}
