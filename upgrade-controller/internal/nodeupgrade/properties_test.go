package nodeupgrade_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// anyScene is a scene in any state, with anything done to it.
func anyScene(t *rapid.T) *scene {
	s := at(rapid.SampledFrom(append(slices.Clone(steps), rolling, completed, failed, "")).Draw(t, "state"), nil)
	node := rapid.SampledFrom([]string{"node-1", "node-2", "node-3"})
	for i := range rapid.IntRange(0, 6).Draw(t, "changes") {
		switch rapid.IntRange(0, 11).Draw(t, fmt.Sprintf("change %d", i)) {
		case 0:
			s.down(node.Draw(t, "down"))
		case 1:
			if s.Volumes["vol"] != nil {
				s.DetachVolume("vol")
			}
		case 2:
			if v := s.Volumes["vol"]; v != nil {
				v.Spec.TargetNodeID = node.Draw(t, "target")
			}
		case 3:
			s.set2(func(x *v1beta2.VolumeUpgradeStatus) { x.TemporaryNodeID = node.Draw(t, "temporary") })
		case 4:
			delete(s.Replicas, "vol-r-"+node.Draw(t, "replica"))
		case 5:
			for _, e := range s.Engines {
				e.Spec.NodeID = node.Draw(t, "engine")
			}
		case 6:
			for name, m := range s.Managers {
				if m.Spec.NodeID == "node-1" && rapid.Bool().Draw(t, "manager") {
					delete(s.Managers, name)
				}
			}
		case 7:
			if len(s.Nodes) == 3 {
				s.AddVolume(fmt.Sprintf("more-%d", i), node.Draw(t, "holder"), "node-1", "node-3")
			}
		case 8:
			delete(s.Volumes, "vol")
		case 9:
			s.abort()
		case 10:
			s.late()
		case 11:
			delete(s.Nodes, node.Draw(t, "gone"))
		}
	}
	s.stale = rapid.Bool().Draw(t, "stale")
	return s
}

func (s *scene) set2(change func(*v1beta2.VolumeUpgradeStatus)) {
	if s.u.Status.Volumes != nil {
		s.set(change)
	}
}

func TestDecideIsTotalAndDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		first := s.decide()
		for range 3 {
			require.Equal(t, first, s.decide())
		}
		for _, c := range first.Status.Conditions {
			require.NotEmpty(t, c.Reason, c.Type)
			require.True(t, listed(c), "%s %s %s is not in the table", c.Type, c.Status, c.Reason)
			require.NotEmpty(t, c.Message, c.Type)
		}
	})
}

func listed(c v1beta2.Condition) bool {
	for _, contract := range v1beta2.ConditionContracts() {
		if contract.Kind == "NodeDataEngineUpgrade" && contract.Type == c.Type {
			return slices.Contains(contract.True, c.Reason) && c.Status == v1beta2.ConditionTrue ||
				slices.Contains(contract.False, c.Reason) && c.Status == v1beta2.ConditionFalse
		}
	}
	return false
}

// Deciding again on the result comes to rest: nothing is written for ever while nothing happens.
func TestDecisionsComeToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		s.stale = false
		s.Upgrades[s.u.Name], s.Plans[s.m.Name] = s.u, s.m
		s.m.DeletionTimestamp, s.m.Finalizers = nil, []string{v1beta2.Finalizer}
		s.m.Status.State = v1beta2.UpgradeStateError // the plan itself does nothing
		s.m.Status.ObservedGeneration = s.m.Generation
		c := &model.Controller{World: s.World, Now: now}
		for range 40 {
			c.Pass()
		}
		last, ok := s.Upgrades[s.u.Name]
		if !ok {
			return
		}
		c.Now = c.Now.Add(time.Millisecond)
		before := last.Status.DeepCopy()
		v := s.decide()
		require.Empty(t, slices.DeleteFunc(v.Effects, func(e nodeupgrade.Effect) bool { return s.Nodes["node-1"] == nil }))
		require.Equal(t, *before, v.Status)
	})
}

// edges are the ways of the package comment from one state to another.
var edges = map[string][]string{
	"": {undefined, initializing, completed, failed}, undefined: {initializing, completed, failed}, initializing: {over, rolling},
	over: {detaching, rolling}, detaching: {replacing, rolling}, replacing: {back, rolling}, back: {rebuilding},
	rebuilding: {completed, failed}, rolling: {failed, back},
}

// What cannot be undone follows from uncached reads alone; after the instance manager was replaced there is no way back.
func TestAnUpgradeFollowsTheEdgesOfItsStates(t *testing.T) {
	needFresh := []string{initializing, over, detaching, replacing, completed}
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		from, v := s.u.Status.State, s.decide()
		to := v.Status.State
		if v.Confirm || len(v.ConfirmVolumes) > 0 || v.AddFinalizer {
			require.True(t, s.stale || v.AddFinalizer, "everything was read uncached")
			return
		}
		require.True(t, from == to || slices.Contains(edges[from], to), "from %q to %q", from, to)
		if s.stale && from != to && from != rebuilding {
			require.NotContains(t, needFresh, to)
		}
		if from != to && to == rolling {
			require.Empty(t, v.Effects, "an effect that is refused would keep the roll back from being stored")
		}
		ended := nodeupgrade.Ended(to)
		require.True(t, from == to || ended == (v.Status.CompletedAt != ""), "it ended at %q", v.Status.CompletedAt)
		require.Equal(t, to == failed || to == rolling, v.Status.ErrorMessage != "")
		require.True(t, v.RequeueAt.IsZero() || v.RequeueAt.After(s.now) && from == to && !ended, v.RequeueAt)
	})
}

func TestEffectsContradictNeitherThemselvesNorTheNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		v := s.decide()
		seen := map[string]nodeupgrade.Effect{}
		for _, e := range v.Effects {
			about := map[nodeupgrade.Kind]string{nodeupgrade.CloseNode: "cordon", nodeupgrade.OpenNode: "cordon"}[e.Kind]
			if about == "" {
				about = string(e.Kind)
			}
			require.NotContains(t, seen, about+e.Name, "two effects on one field")
			seen[about+e.Name] = e
			switch e.Kind {
			case nodeupgrade.OpenNode:
				require.False(t, s.stale)
				require.True(t, s.Nodes["node-1"].Spec.UpgradeRequested)
			case nodeupgrade.SetTarget:
				require.Contains(t, []string{"", s.u.Status.Volumes[e.Volume].TemporaryNodeID}, e.Node, "its node was stored before")
				require.NotEqual(t, s.Volumes[e.Name].Spec.TargetNodeID, e.Node, "it is there already")
			case nodeupgrade.TakeSnapshot:
				require.Equal(t, s.u.Status.Volumes[e.Volume].Snapshot, e.Name, "its name was stored before")
			}
		}
	})
}

// UPG-1: attach-controller takes out what is listed.
func TestTheLastHealthyReplicaIsNeverListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScene(t)
		if s.Engines["vol-e-0"] != nil && rapid.Bool().Draw(t, "polled") {
			s.polled()
		}
		for name := range s.Replicas {
			if e := s.Engines["vol-e-0"]; e != nil && rapid.Bool().Draw(t, "dropped") && e.Status.ReplicaModeMap[name] != "" {
				e.Status.ReplicaModeMap[name] = v1beta2.ReplicaModeERR
			}
		}
		before := s.u.Status.DeepCopy()
		for name, x := range s.decide().Status.Volumes {
			if x.Replica != "" && x.Replica != before.Volumes[name].Replica {
				require.Positive(t, s.Cluster().HealthyBeside(s.Cluster().Volumes[name], "node-1"), name)
				require.False(t, s.stale, "it is listed on uncached reads alone")
			}
		}
	})
}
