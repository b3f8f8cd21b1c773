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
