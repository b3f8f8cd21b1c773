package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// away plays a world without faults until the upgrade of node-1, which carries a volume, is in a state; broken nodes get no
// new instance manager.
func away(t *testing.T, state string, broken bool) *game {
	t.Helper()
	g := newGame(1, t.Logf)
	g.World, g.Kill = New(), 0
	for _, name := range nodeNames {
		g.World.AddNode(name)
	}
	g.World.AddVolume("vol-0", "node-1", nodeNames...)
	g.World.Broken["node-1"] = broken
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: g.World.Meta("upgrade")}
	m.Spec = v1beta2.DataEngineUpgradeManagerSpec{DataEngine: v1beta2.DataEngineV2, Nodes: []string{"node-1"}}
	g.World.Plans[m.Name] = m
	for range 3000 {
		u := g.World.Upgrades["upgrade-node-1"]
		if u != nil && u.Status.State == state && g.World.Volumes["vol-0"].Status.CurrentTargetNodeID != "" && !g.oldRuns() {
			return g
		}
		g.step()
	}
	require.Fail(t, "it never came to "+state)
	return nil
}

// oldRuns reports whether node-1's old instance manager runs.
func (g *game) oldRuns() bool {
	m := g.World.Managers[v1beta2.InstanceManagerName("node-1", OldImage, v1beta2.DataEngineV2)]
	return m != nil && m.Status.CurrentState == v1beta2.InstanceManagerStateRunning
}

// The node that holds the target dies while node-1 has no instance manager: another one takes over, in whatever state the
// upgrade is.
func TestATemporaryNodeThatDiesIsReplacedWhereverTheUpgradeIs(t *testing.T) {
	for state, prepare := range map[string]func(*game){
		v1beta2.UpgradeStateUpgradingInstanceManager: func(*game) {},
		// The new instance manager runs, and fails before the target is switched back.
		v1beta2.UpgradeStateSwitchingBack: func(g *game) {
			m := g.World.Managers[v1beta2.InstanceManagerName("node-1", NewImage, v1beta2.DataEngineV2)]
			m.Status.CurrentState = v1beta2.InstanceManagerStateError
			g.World.Broken["node-1"] = true
		},
	} {
		t.Run(state, func(t *testing.T) {
			g := away(t, state, state == v1beta2.UpgradeStateUpgradingInstanceManager)
			prepare(g)
			first := g.World.Volumes["vol-0"].Spec.TargetNodeID
			require.NotEmpty(t, first)
			g.excused["vol-0"] = true
			g.down(first)
			for range 300 {
				g.step()
			}
			require.Empty(t, g.bad)
			require.True(t, g.World.Serving("vol-0"), "its target is wished on %q", g.World.Volumes["vol-0"].Spec.TargetNodeID)
			require.NotContains(t, []string{"", "node-1", first}, g.World.Volumes["vol-0"].Spec.TargetNodeID)
		})
	}
}
