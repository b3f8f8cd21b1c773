package upgrade

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/terminal"
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

func conditionOf(kind string, status v1beta2.ConditionStatus, reason, message string) v1beta2.Condition {
	return v1beta2.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// An upgrade in error whose spec was changed since begins again.
func TestAnUpgradeHasEndedOnceItsStateIsOfItsPresentSpec(t *testing.T) {
	for state, want := range map[string]bool{v1beta2.UpgradeStateCompleted: true, v1beta2.UpgradeStateError: true, "": false,
		v1beta2.UpgradeStateUpgrading: false, v1beta2.UpgradeStateAborting: false} {
		u := inState(state, false, false)
		u.Generation, u.Status.ObservedGeneration = 2, 2
		require.Equal(t, want, Ended(u), state)
		u.Status.ObservedGeneration = 1
		require.False(t, Ended(u), state)
		require.False(t, ProgressOf(w, u).Completed, state)
	}
}

func TestWithoutANameTheUpgradeThatGoesOnIsMeantOrElseTheNewest(t *testing.T) {
	upgrade := func(name, state string, minute int) v1beta2.DataEngineUpgradeManager {
		u := *inState(state, false, false)
		u.Name, u.CreationTimestamp = name, metav1.NewTime(time.Date(2026, time.August, 1, 12, minute, 0, 0, time.UTC))
		return u
	}
	first, second := upgrade("first", v1beta2.UpgradeStateCompleted, 1), upgrade("second", v1beta2.UpgradeStateError, 2)
	waits, goes := upgrade("waits", "", 3), upgrade("goes", v1beta2.UpgradeStateUpgrading, 0)
	waitsToo := upgrade("waits-too", v1beta2.UpgradeStateUndefined, 4)
	for name, test := range map[string]struct {
		upgrades    []v1beta2.DataEngineUpgradeManager
		named, want string
	}{
		"all have ended":                 {[]v1beta2.DataEngineUpgradeManager{second, first}, "", "second"},
		"one has not begun":              {[]v1beta2.DataEngineUpgradeManager{waits, second}, "", "waits"},
		"one goes on, and another waits": {[]v1beta2.DataEngineUpgradeManager{waits, goes, waitsToo}, "", "goes"},
		"it is named":                    {[]v1beta2.DataEngineUpgradeManager{goes, first}, "first", "first"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Select(&world.World{Upgrades: v1beta2.DataEngineUpgradeManagerList{Items: test.upgrades}}, test.named)
			require.NoError(t, err)
			require.Equal(t, test.want, found.Name)
		})
	}
	_, err := Select(w, "")
	require.EqualError(t, err, "namespace longhorn-system has no DataEngineUpgradeManager: nothing is being upgraded; see: "+
		"kubectl drover upgrade plan -n longhorn-system")
	_, err = Select(&world.World{Namespace: "longhorn-system", Upgrades: v1beta2.DataEngineUpgradeManagerList{
		Items: []v1beta2.DataEngineUpgradeManager{goes}}}, "other")
	require.EqualError(t, err, "DataEngineUpgradeManager other does not exist in namespace longhorn-system; list all with: "+
		"kubectl -n longhorn-system get lhum", "another one is not meant")
}

func TestTheTreeShowsEachNodeOfTheUpgradeInItsOrder(t *testing.T) {
	u := inState(v1beta2.UpgradeStateUpgrading, true, true)
	u.Spec.Nodes = []string{"node-3", "node-1", "node-4", "node-2"}
	u.Status.Progress, u.Status.InstanceManagerImage = "1/4", "new"
	u.Status.UpgradedNodes, u.Status.UpgradingNode = []string{"node-1"}, "node-2"
	u.Status.Conditions = []v1beta2.Condition{
		conditionOf(v1beta2.UpgradeProgressing, v1beta2.ConditionTrue, "UpgradingNode", "Node node-2 is being upgraded."),
		conditionOf(v1beta2.UpgradeStalled, v1beta2.ConditionTrue, "TimedOut", "Node node-2 is late.")}
	u.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{
		"node-1": {State: v1beta2.UpgradeStateCompleted, StartedAt: "2026-08-01T10:00:00Z", CompletedAt: "2026-08-01T11:00:00Z"},
		"node-3": {State: v1beta2.UpgradeStateError, StartedAt: "2026-08-01T10:00:00Z", ErrorMessage: "It failed.", RetryCount: 2}}
	there := &world.World{Now: time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)}
	node := func(manager, name string) v1beta2.NodeDataEngineUpgrade {
		n := v1beta2.NodeDataEngineUpgrade{}
		n.Spec.NodeID, n.Spec.DataEngineUpgradeManager = name, manager
		n.Status.State, n.Status.StateSince, n.Status.Progress = v1beta2.UpgradeStateRollingBack, "2026-08-01T11:56:00Z", "1/2"
		n.Status.Conditions = []v1beta2.Condition{
			conditionOf(v1beta2.UpgradeProgressing, v1beta2.ConditionTrue, "WaitingForRebuild", "A replica is rebuilt."),
			conditionOf(v1beta2.UpgradeStalled, v1beta2.ConditionTrue, "TimedOut", "")}
		n.Status.Volumes = map[string]v1beta2.VolumeUpgradeStatus{
			"vol-3": {},
			"vol-1": {State: v1beta2.VolumeUpgradeRebuilding, Progress: 40, Message: "It is slow."},
			"vol-2": {State: "switched", Progress: 40, OriginalNodeID: "node-2", TemporaryNodeID: "node-1"}}
		return n
	}
	there.NodeUpgrades.Items = []v1beta2.NodeDataEngineUpgrade{node("upgrade-0", "node-2"), node("upgrade-1", "node-2"),
		node("upgrade-1", "node-3")}
	p := ProgressOf(there, u)
	require.Equal(t, `upgrade-1: upgrading, 1/4 nodes, to new, spec.paused, spec.abort
  UpgradingNode: Node node-2 is being upgraded.
  stalled: Node node-2 is late.
  node node-1: completed (1h ago)
  node node-2: rolling-back 1/2 (4m ago)
    WaitingForRebuild: A replica is rebuilt.
    stalled: TimedOut
    volume vol-1: rebuilding, 40 %: It is slow.
    volume vol-2: switched, target node-2 -> node-1
    volume vol-3: not begun
  node node-3: error, retry 2 (2h ago)
    It failed.
  node node-4: waits for its turn
`, text(p))
	require.Equal(t, []string{"dataengineupgrademanager.longhorn.io/upgrade-1"}, p.Names())

	u.Spec.Nodes = nil
	var names []string
	for _, n := range ProgressOf(there, u).Nodes {
		names = append(names, n.Node)
	}
	require.Equal(t, []string{"node-1", "node-2", "node-3"}, names, "without a list those that are recorded")
}

func TestTheColourShowsHowAnUpgradeOrANodeEnded(t *testing.T) {
	require.Equal(t, terminal.Good, Progress{Ended: true, Completed: true}.style())
	require.Equal(t, terminal.Bad, Progress{Ended: true}.style())
	require.Equal(t, terminal.Bold, Progress{}.style())
	for state, want := range map[string]terminal.Style{v1beta2.UpgradeStateCompleted: terminal.Good, v1beta2.UpgradeStateError: terminal.Bad,
		v1beta2.UpgradeStateRollingBack: terminal.Warning, v1beta2.UpgradeStateUpgrading: terminal.Plain} {
		require.Equal(t, want, nodeStyle(state), state)
	}
}

// Whoever follows an upgrade line by line sees each change once, and no age that grows.
func TestOnlyLinesThatChangedAreWritten(t *testing.T) {
	node := func(state, since string) Progress {
		return Progress{Name: "upgrade-1", State: v1beta2.UpgradeStateUpgrading, Nodes: []NodeProgress{{Node: "node-1", State: state,
			Since: since, Volumes: []VolumeProgress{{Volume: "vol-1", State: "switched"}}}, {Node: "node-2", State: "waits for its turn"}}}
	}
	before := node("upgrading", "2026-08-01T11:00:00Z")
	require.Empty(t, node("upgrading", "2026-08-01T12:00:00Z").Changes(before))
	require.Equal(t, []string{"  node node-1: completed"}, node("completed", "").Changes(before))
}
