package upgrade

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAStateThatHasNotBegunIsShownInWords(t *testing.T) {
	u := inState("", false, false)
	u.Status.UpgradingNode = "node-1"
	at := &v1beta2.NodeDataEngineUpgrade{}
	at.Spec.NodeID, at.Spec.DataEngineUpgradeManager = "node-1", u.Name
	there := &world.World{Namespace: u.Namespace, NodeUpgrades: v1beta2.NodeDataEngineUpgradeList{Items: []v1beta2.NodeDataEngineUpgrade{*at}}}
	begins := ProgressOf(there, u)
	require.Equal(t, []string{"upgrade-1: not begun", "  node node-1: not begun"}, begins.Changes(Progress{}))
	require.Equal(t, v1beta2.UpgradeStateUndefined, begins.Nodes[0].State, "which is what the object has")

	u.Status.State = v1beta2.UpgradeStateUpgrading
	require.Equal(t, []string{"upgrade-1: upgrading"}, ProgressOf(there, u).Changes(begins))
}
