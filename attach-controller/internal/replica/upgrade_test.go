package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// taken is a volume of a, b and c whose replica on a was taken out because that node is upgraded, which has come to a state.
func taken(state string, changes ...change) World {
	out := func(w *World) {
		r := w.Replicas[0]
		r.Spec.FailedAt, r.Spec.DesireState, r.Status.CurrentState = ago(time.Hour), v1beta2.InstanceStateStopped,
			v1beta2.InstanceStateStopped
		delete(w.Engine.Spec.ReplicaAddressMap, r.Name)
		delete(w.Engine.Status.ReplicaModeMap, r.Name)
		w.Nodes["a"].Spec.UpgradeRequested = true
		w.Upgrades = []Upgrade{{Node: "a", State: state, Listed: true}}
		w.Candidates = candidates(*w)
	}
	return attached("a b c", append([]change{out}, changes...)...)
}

// A replica that an upgrade took out is neither replaced nor rebuilt before its time, however long that takes.
func TestAReplicaOfANodeThatIsUpgradedComesBackWhenItsTimeComes(t *testing.T) {
	for state, comes := range map[string]bool{
		v1beta2.UpgradeStateInitializing: false, v1beta2.UpgradeStateSwitchingOver: false, v1beta2.UpgradeStateDetachingReplicas: false,
		v1beta2.UpgradeStateUpgradingInstanceManager: false, v1beta2.UpgradeStateSwitchingBack: false,
		v1beta2.UpgradeStateRebuildingReplica: true, v1beta2.UpgradeStateRollingBack: true,
	} {
		w := taken(state)
		verdict := Decide(w)
		require.Empty(t, verdict.Create, state)
		require.Empty(t, verdict.Deletes, state)
		require.Equal(t, comes, len(verdict.Patches) == 1, state)
		require.Equal(t, comes, Needs(w), state)
	}
}

func TestAVolumeThatIsNotListedWaitsForItsReplicaOnANodeThatIsUpgraded(t *testing.T) {
	w := taken(v1beta2.UpgradeStateUpgradingInstanceManager, func(w *World) {
		w.Upgrades[0].Listed = false
		w.Replicas[0].Spec.FailedAt = ago(time.Second)
	})
	verdict := Decide(w)
	require.Empty(t, verdict.Create)
	require.Empty(t, verdict.Patches)
}

// A target that cannot move delays no rebuild, as long as no upgrade lists the volume: that one chooses another node.
func TestAReplicaIsRebuiltWhileTheTargetIsWantedOnANodeThatIsDown(t *testing.T) {
	for name, c := range map[string]struct {
		node     func(*World)
		listed   bool
		rebuilds bool
	}{
		"it is ready":           {func(*World) {}, false, false},
		"it is down":            {down("d"), false, true},
		"it is gone":            {func(w *World) { w.Nodes["d"] = nil }, false, true},
		"it was not read":       {func(w *World) { delete(w.Nodes, "d") }, false, false},
		"an upgrade has listed": {down("d"), true, false},
	} {
		w := attached("a b", wants(3), func(w *World) {
			w.Volume.Spec.TargetNodeID = "d"
			w.Candidates = candidates(*w)
			c.node(w)
			if c.listed {
				w.Upgrades = []Upgrade{{Node: "a", State: v1beta2.UpgradeStateSwitchingOver, Listed: true}}
			}
		})
		require.Equal(t, c.rebuilds, len(Decide(w).Create) == 1, name)
	}
}

func TestNothingIsRebuiltWhileATargetMoves(t *testing.T) {
	for name, c := range map[string]struct {
		wanted, current, engine string
		rebuilds                bool
	}{
		"on the original node":         {"", "", "a", true},
		"on the original node by name": {"a", "", "a", true},
		"relocated, as wanted":         {"b", "b", "b", true},
		"on its way":                   {"b", "", "a", false},
		"switching back":               {"", "b", "b", false},
		"not seen where it is":         {"b", "b", "a", false},
	} {
		w := attached("a b", wants(3), func(w *World) {
			w.Volume.Spec.TargetNodeID, w.Volume.Status.CurrentTargetNodeID, w.Engine.Spec.NodeID = c.wanted, c.current, c.engine
			w.Candidates = candidates(*w)
		})
		require.Equal(t, c.rebuilds, len(Decide(w).Create) == 1, name)
	}
}
