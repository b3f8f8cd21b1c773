package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/model"
)

func four() *model.World {
	w := model.New()
	for _, name := range []string{"a", "b", "c", "d"} {
		w.AddNode(name)
	}
	w.AddVolume("vol", "a", "a", "b", "c")
	return w
}

func upgrade(w *model.World, node string) {
	for name, m := range w.Managers {
		if m.Spec.NodeID == node && m.Spec.Image == model.OldImage {
			delete(w.Managers, name)
		} else if m.Spec.NodeID == node {
			m.Status.CurrentState, m.Status.APIVersion = v1beta2.InstanceManagerStateRunning, 7
		}
	}
}

func TestTheTemporaryNodeOfATarget(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model.World)
		coming map[string]int
		lost   bool
		want   string
	}{
		"the first by name of those with a healthy replica": {want: "b"},
		"one that is upgraded already":                      {change: func(w *model.World) { upgrade(w, "c") }, want: "c"},
		"but a healthy replica counts more":                 {change: func(w *model.World) { upgrade(w, "d") }, want: "b"},
		"one with fewer engines": {change: func(w *model.World) { w.AddVolume("more", "b", "b", "c") },
			want: "c"},
		"those that are about to come count": {coming: map[string]int{"b": 1}, want: "c"},
		"not one that is down":               {change: func(w *model.World) { down(w, "b") }, want: "c"},
		"not one that a person keeps free": {change: func(w *model.World) { w.Nodes["b"].Spec.AllowScheduling = false },
			want: "c"},
		"nor one that is to be emptied": {
			change: func(w *model.World) { w.Nodes["b"].Spec.EvictionRequested = true }, want: "c"},
		"none, where all others are":                           {change: func(w *model.World) { keepFree(w) }},
		"one of them for a target that has nowhere to be else": {lost: true, change: func(w *model.World) { keepFree(w) }, want: "b"},
		"another one where there is one": {lost: true, change: func(w *model.World) {
			keepFree(w)
			w.Nodes["d"].Spec.AllowScheduling = true
		}, want: "d"},
		"not one that is closed": {change: func(w *model.World) { w.Nodes["b"].Spec.UpgradeRequested = true },
			want: "c"},
		"any that runs, where no other replica is healthy": {change: func(w *model.World) { down(w, "b"); down(w, "c") }, want: "d"},
		"none": {change: func(w *model.World) { down(w, "b"); down(w, "c"); down(w, "d") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := four()
			if c.change != nil {
				c.change(w)
			}
			found := w.Cluster()
			require.Equal(t, c.want, found.Temporary(found.Volumes["vol"], "a", model.NewImage, c.coming, c.lost))
		})
	}
}

// keepFree lets a person keep every node beside a free.
func keepFree(w *model.World) {
	w.Nodes["b"].Spec.AllowScheduling, w.Nodes["d"].Spec.AllowScheduling = false, false
	w.Nodes["c"].Spec.EvictionRequested = true
}

// Where not all volumes are known, the load of each node is.
func TestTheLoadOfANodeIsCountedOrKnown(t *testing.T) {
	w := four()
	w.AddVolume("more", "b", "b", "c")
	all := w.Cluster()
	require.Equal(t, 1, all.Engines("b"))
	all.Load = map[string]int{"b": 7}
	require.Equal(t, 7, all.Engines("b"))
	require.Zero(t, all.Engines("c"))
}

func down(w *model.World, node string) {
	w.Nodes[node].Status.Conditions[0] = v1beta2.Condition{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
		Reason: v1beta2.ReasonKubernetesNodeGone}
}

func TestAReplicaIsHealthyWhileTheRunningEngineReadsItAndNothingSpeaksAgainstIt(t *testing.T) {
	for name, change := range map[string]func(*model.World){
		"the engine writes only":  func(w *model.World) { w.Engines["vol-e-0"].Status.ReplicaModeMap["vol-r-b"] = v1beta2.ReplicaModeWO },
		"the engine dropped it":   func(w *model.World) { delete(w.Engines["vol-e-0"].Spec.ReplicaAddressMap, "vol-r-b") },
		"it failed":               func(w *model.World) { w.Replicas["vol-r-b"].Spec.FailedAt = "then" },
		"it does not run":         func(w *model.World) { w.Replicas["vol-r-b"].Status.CurrentState = v1beta2.InstanceStateError },
		"its node is down":        func(w *model.World) { down(w, "b") },
		"its node does not exist": func(w *model.World) { delete(w.Nodes, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			w := four()
			require.Equal(t, []string{"a", "b", "c"}, w.Cluster().Healthy(w.Cluster().Volumes["vol"]))
			change(w)
			require.Equal(t, []string{"a", "c"}, w.Cluster().Healthy(w.Cluster().Volumes["vol"]))
			require.Equal(t, 1, w.Cluster().HealthyBeside(w.Cluster().Volumes["vol"], "a"))
		})
	}
	w := four()
	w.Engines["vol-e-0"].Status.CurrentState = v1beta2.InstanceStateUnknown
	require.Empty(t, w.Cluster().Healthy(w.Cluster().Volumes["vol"]), "nothing is known without an engine")
}

func TestANodeIsUpgradedWhenTheImageAnswersAndNoOtherRuns(t *testing.T) {
	w := four()
	require.False(t, w.Cluster().Nodes["a"].Upgraded(model.NewImage))
	upgrade(w, "a")
	require.True(t, w.Cluster().Nodes["a"].Upgraded(model.NewImage))
	for _, m := range w.Managers {
		if m.Spec.NodeID == "a" {
			m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionFalse}}
		}
	}
	require.False(t, w.Cluster().Nodes["a"].Upgraded(model.NewImage), "a pod's spec proves nothing")
}

func TestALookIsFreshFromTheTimeItWasAskedFor(t *testing.T) {
	w := four()
	at := time.Date(2026, 1, 1, 12, 0, 0, 5, time.UTC)
	v := w.Cluster().Volumes["vol"]
	require.False(t, v.PollRequested(at) || v.PolledSince(at))
	e := w.Engines["vol-e-0"]
	e.Spec.LookRequestedAt, e.Status.LookedAt = at.Format(time.RFC3339Nano), at.Add(-1).Format(time.RFC3339Nano)
	require.True(t, v.PollRequested(at))
	require.False(t, v.PolledSince(at))
	e.Status.LookedAt = at.Format(time.RFC3339Nano)
	require.True(t, v.PolledSince(at))
}

func TestATargetIsSomewhereForGoodWhenNoOtherEngineIsLeft(t *testing.T) {
	w := four()
	require.True(t, w.Cluster().Volumes["vol"].AtOriginalNode())
	second := w.Engines["vol-e-0"].DeepCopy()
	second.Name, second.Spec.NodeID, second.Spec.Active = "vol-e-1", "b", false
	w.Engines["vol-e-1"] = second
	require.False(t, w.Cluster().Volumes["vol"].AtOriginalNode())
	w.Engines["vol-e-0"].Spec.Active, second.Spec.Active = false, true
	w.Volumes["vol"].Spec.TargetNodeID, w.Volumes["vol"].Status.CurrentTargetNodeID = "b", "b"
	require.False(t, w.Cluster().Volumes["vol"].At("b"), "the old engine is not gone")
	w.Engines["vol-e-0"].Spec.DesireState, w.Engines["vol-e-0"].Status.CurrentState = v1beta2.InstanceStateStopped,
		v1beta2.InstanceStateUnknown
	require.True(t, w.Cluster().Volumes["vol"].At("b"), "its node is down: it ends when that is back")
	delete(w.Engines, "vol-e-0")
	require.True(t, w.Cluster().Volumes["vol"].At("b"))
	require.False(t, w.Cluster().Volumes["vol"].AtOriginalNode())
}
