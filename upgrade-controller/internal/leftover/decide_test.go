package leftover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/leftover"
	"drover.dev/drover/upgrade-controller/internal/model"
)

// cordoned is a world in which node-1 is cordoned and a volume that is attached there has its target on node-2, as two volumes that were
// moved and detached since; no upgrade exists.
func cordoned(change func(*model.World)) leftover.World {
	m := model.New()
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		m.AddNode(node)
	}
	m.AddVolume("away", "node-1", "node-1", "node-2")
	m.AddVolume("elsewhere", "node-3", "node-1", "node-2")
	m.AddVolume("at-original", "node-1", "node-1", "node-2")
	m.Volumes["away"].Spec.TargetNodeID = "node-2"
	m.Volumes["elsewhere"].Spec.TargetNodeID = "node-2"
	m.AddVolume("detached", "", "node-1", "node-2")
	m.Volumes["detached"].Spec.TargetNodeID = "node-2"
	m.Nodes["node-1"].Spec.UpgradeRequested = true
	if change != nil {
		change(m)
	}
	w := leftover.World{Node: "node-1", Cluster: m.Cluster(), Fresh: true}
	for _, name := range []string{"at-original", "away", "detached", "elsewhere"} {
		if v := m.Volumes[name]; v.Spec.TargetNodeID != "" {
			w.Requested = append(w.Requested, v)
		}
	}
	for _, u := range m.Upgrades {
		w.Upgrades = append(w.Upgrades, u)
	}
	return w
}

func upgrade(node, state string) func(*model.World) {
	return func(m *model.World) {
		u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: m.Meta("u")}
		u.Spec.NodeID, u.Status.State = node, state
		m.Upgrades[u.Name] = u
	}
}

func TestWhatAVanishedUpgradeLeftIsBroughtHomeAndOpened(t *testing.T) {
	switchedBack := func(change func(*model.World)) (names []string) {
		for _, v := range leftover.Decide(cordoned(change)).SwitchBack {
			names = append(names, v.Object.Name)
		}
		return names
	}
	require.Equal(t, []string{"away"}, switchedBack(nil), "what is attached to the node")
	require.False(t, leftover.Decide(cordoned(nil)).Uncordon, "the node stays closed until then")
	require.Equal(t, leftover.Verdict{Uncordon: true}, leftover.Decide(cordoned(func(m *model.World) {
		for _, v := range m.Volumes {
			v.Spec.TargetNodeID = ""
		}
	})))
	require.Equal(t, []string{"away"}, switchedBack(upgrade("node-2", v1beta2.UpgradeStateSwitchingOver)),
		"another node's upgrade does not have it")
	require.Equal(t, []string{"away"}, switchedBack(upgrade("node-1", v1beta2.UpgradeStateUndefined)),
		"one that has not begun waits for this")
	require.Equal(t, []string{"away"}, switchedBack(upgrade("node-1", v1beta2.UpgradeStateError)), "nor one that has ended")

	stale := cordoned(nil)
	stale.Fresh = false
	require.Equal(t, leftover.Verdict{Confirm: true}, leftover.Decide(stale), "no upgrade of the node is confirmed by uncached reads")
}

func TestANodeIsLeftAloneThatIsOpenOrGoneOrHasAnUpgradeOrCannotHoldItsTargets(t *testing.T) {
	for name, change := range map[string]func(*model.World){
		"open":         func(m *model.World) { m.Nodes["node-1"].Spec.UpgradeRequested = false },
		"gone":         func(m *model.World) { delete(m.Nodes, "node-1") },
		"upgraded":     upgrade("node-1", v1beta2.UpgradeStateInitializing),
		"rolling back": upgrade("node-1", v1beta2.UpgradeStateRollingBack),
		"cannot hold": func(m *model.World) {
			m.Volumes["elsewhere"].Spec.TargetNodeID, m.Volumes["detached"].Spec.TargetNodeID = "", ""
			for _, im := range m.Managers {
				if im.Spec.NodeID == "node-1" {
					im.Status.CurrentState = v1beta2.InstanceManagerStateError
				}
			}
		},
	} {
		require.Equal(t, leftover.Verdict{}, leftover.Decide(cordoned(change)), name)
	}
}

func TestATargetOfAVolumeThatMovedAwayIsClearedUnlessAnUpgradeHasIt(t *testing.T) {
	cleared := func(change func(*model.World)) (names []string) {
		for _, v := range leftover.Decide(cordoned(change)).Clear {
			names = append(names, v.Name)
		}
		return names
	}
	listing := func(state string) func(*model.World) {
		return func(m *model.World) {
			upgrade("node-2", state)(m)
			m.Upgrades["u"].Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{"elsewhere": {}}
		}
	}
	both := []string{"detached", "elsewhere"}
	require.Equal(t, both, cleared(nil))
	require.Equal(t, both, cleared(func(m *model.World) {
		for _, im := range m.Managers {
			im.Status.CurrentState = v1beta2.InstanceManagerStateError
		}
	}), "it does not depend on whether the node can hold targets")
	require.Equal(t, []string{"detached"}, cleared(listing(v1beta2.UpgradeStateSwitchingBack)), "an upgrade that is under way lists it")
	require.Equal(t, both, cleared(listing(v1beta2.UpgradeStateError)), "one that has ended clears nothing any more")
	require.Equal(t, []string{"detached"}, cleared(upgrade("node-3", v1beta2.UpgradeStateInitializing)), "an upgrade is about to list it")
	require.Equal(t, []string{"detached"}, cleared(func(m *model.World) { m.Nodes["node-3"].Spec.UpgradeRequested = true }),
		"another cordoned node is decided on by itself")
	require.Empty(t, cleared(upgrade("node-1", v1beta2.UpgradeStateInitializing)), "the node has an upgrade")

	w := cordoned(func(m *model.World) { m.Volumes["away"].Spec.TargetNodeID = "" })
	require.True(t, leftover.Decide(w).Uncordon, "nothing on the node waits for it")
	w.Fresh = false
	require.Equal(t, leftover.Verdict{Confirm: true}, leftover.Decide(w))
}
