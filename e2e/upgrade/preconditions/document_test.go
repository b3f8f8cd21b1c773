//go:build !fast

package preconditions

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const near, far, third = scenarios.Near, scenarios.Far, scenarios.Third

// placed is a volume of a topology: the node to which it is attached, and the nodes of its replicas.
type placed struct {
	attached string
	replicas []string
}

var everywhere = []string{near, far, third}

// arranged creates the volumes of a topology, and writes to those whose upgrade the document expects to succeed.
func arranged(s *fixture.Scenario, prefix string, volumes []placed, written bool) []string {
	s.T.Helper()
	var names []string
	for i, v := range volumes {
		name := prefix + "-vol-" + string(rune('1'+i))
		s.OnlyOn(v.replicas, func() { s.Attached(name, v.attached, len(v.replicas), nil) })
		nodes, err := s.ReplicaNodes(s.Ctx, name)
		require.NoError(s.T, err)
		require.ElementsMatch(s.T, v.replicas, nodes)
		if written {
			s.Written(name)
		}
		names = append(names, name)
	}
	return names
}

// U2: the documented topologies that fail: vol-1 has a single replica, on the node of its engine or another.
func TestTheDocumentedTopologiesThatFail(t *testing.T) {
	for name, volumes := range map[string][]placed{
		"fails-1": {{near, []string{near}}, {near, everywhere}, {near, everywhere}},
		"fails-2": {{near, []string{far}}, {near, everywhere}, {near, everywhere}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.Begin(t)
			names := arranged(s, name, volumes, false)
			before := s.Untouched(names...)
			s.Ordered(name, fixture.Image(name))
			m := s.Reaches(name, v1beta2.UpgradeStateError)
			require.Equal(t, v1beta2.ReasonUpgradeBlocked, conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight))
			require.Contains(t, m.Status.ErrorMessage, "volume "+names[0]+
				": TooFewHealthyReplicas: it has 1 healthy replica(s) on 1 node(s)")
			require.NotContains(t, m.Status.ErrorMessage, names[1])
			require.Equal(t, before, s.Untouched(names...))
			s.Gone(names...)
		})
	}
}

// U1: the documented topologies that succeed, on every node of the cluster. Package endtoend tests the third one.
func TestTheDocumentedTopologiesThatSucceed(t *testing.T) {
	for name, volumes := range map[string][]placed{
		"succeeds-1": {{near, everywhere}, {near, everywhere}, {near, everywhere}},
		"succeeds-2": {{near, []string{far, third}}, {near, []string{far, third}}, {near, []string{far, third}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fixture.Begin(t)
			arranged(s, name, volumes, true)
			s.StartChecker()
			s.Ordered(name, fixture.Image(name))
			m := s.Reaches(name, v1beta2.UpgradeStateCompleted)
			require.Len(t, m.Status.UpgradedNodes, 3)
			s.Done()
		})
	}
}
