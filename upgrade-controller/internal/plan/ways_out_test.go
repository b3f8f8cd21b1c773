package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

func aborted(m *v1beta2.DataEngineUpgradeManager) { m.Spec.Abort = true }

func TestAnUpgradeIsAbortedInEveryState(t *testing.T) {
	for _, state := range []string{"", v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateAborting} {
		v := plan.Decide(world(manager("upgrade", state, aborted), nil))
		require.Equal(t, v1beta2.UpgradeStateError, v.Status.State, state)
		require.Equal(t, v1beta2.ReasonAborted, reason(v), state)
		require.Contains(t, v.Status.ErrorMessage, "It was aborted", state)
	}
}

// A node that is under way ends by itself, whatever that takes; until then the upgrade is not over.
func TestAnAbortWaitsForTheNodeThatIsUnderWay(t *testing.T) {
	aborting := func() *v1beta2.DataEngineUpgradeManager {
		return manager("upgrade", v1beta2.UpgradeStateAborting, func(m *v1beta2.DataEngineUpgradeManager) {
			aborted(m)
			m.Status.UpgradingNode = "node-1"
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateSwitchingOver}}
		})
	}
	v := plan.Decide(world(aborting(), func(w *plan.World) {
		w.Upgrades = append(w.Upgrades, node("node-1", v1beta2.UpgradeStateRollingBack))
	}))
	require.Equal(t, v1beta2.UpgradeStateAborting, v.Status.State)
	require.Equal(t, "node-1", v.Status.UpgradingNode)
	require.Empty(t, v.Create)
	v = plan.Decide(world(aborting(), nil))
	require.Equal(t, v1beta2.UpgradeStateError, v.Status.State, "its object is gone")
	require.Empty(t, v.Status.UpgradingNode)
	require.Empty(t, v.Create, "no node begins any more")
}

// A node that is being rolled back ends first. That is no try of it, and then the plan goes on, whatever maxRetries and onFailure are.
func TestAnAbortThatIsTakenBackEndsBeforeThePlanGoesOn(t *testing.T) {
	for _, retries := range []int{0, 1} {
		m := manager("upgrade", v1beta2.UpgradeStateAborting, func(m *v1beta2.DataEngineUpgradeManager) {
			m.Spec.MaxRetries, m.Spec.Nodes, m.Generation = retries, []string{"node-1", "node-2"}, 3
			m.Status.UpgradingNode, m.Status.ObservedGeneration = "node-1", 2
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateSwitchingOver}, "node-2": {}}
		})
		pass := func(u ...*v1beta2.NodeDataEngineUpgrade) plan.Verdict {
			v := plan.Decide(world(m, func(w *plan.World) { w.Upgrades = u }))
			require.NotContains(t, v.Status.ErrorMessage, "Set spec.abort to false")
			m.Status = v.Status
			model.Answer(m, plan.Triers...)
			return v
		}
		v := pass(node("node-1", v1beta2.UpgradeStateRollingBack))
		require.Equal(t, v1beta2.UpgradeStateAborting, v.Status.State)
		failed := node("node-1", v1beta2.UpgradeStateError)
		failed.Status.ErrorMessage = "DataEngineUpgradeManager upgrade was aborted."
		require.True(t, plan.Decide(world(m, func(w *plan.World) { w.Upgrades, w.Fresh = append(w.Upgrades, failed), false })).Confirm)
		v = pass(failed)
		require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
		require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message, "It continues")
		require.Empty(t, v.Create)
		for n := 0; v.Create == "" && n < 5; n++ {
			v = pass(failed)
			if len(v.Delete) > 0 {
				v = pass()
			}
		}
		require.Equal(t, "node-1", v.Create)
		require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State)
		require.Zero(t, v.Status.UpgradeNodes["node-1"].RetryCount)
	}
}

// A node that has not begun to roll back, or cannot any more, is upgraded: nothing is aborted.
func TestAnAbortThatIsTakenBackEndsWhereNodesGoForward(t *testing.T) {
	aborting := func() *v1beta2.DataEngineUpgradeManager {
		return upgrading(func(m *v1beta2.DataEngineUpgradeManager) {
			m.Status.State, m.Status.UpgradingNode = v1beta2.UpgradeStateAborting, "node-1"
		})
	}
	for _, state := range []string{"", v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingBack} {
		m := aborting()
		v := plan.Decide(world(m, func(w *plan.World) { w.Upgrades = append(w.Upgrades, node("node-1", state)) }))
		require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State, state)
		require.Equal(t, "node-1", v.Status.UpgradingNode)
	}
	v := plan.Decide(world(aborting(), func(w *plan.World) {
		w.Upgrades = append(w.Upgrades, node("node-1", v1beta2.UpgradeStateCompleted))
	}))
	require.Equal(t, []string{"node-1"}, v.Status.UpgradedNodes)
	require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
	v = plan.Decide(world(aborting(), nil))
	require.Empty(t, v.Create, "no object: none was created, or it is gone")
	require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
}

func TestAFailedUpgradeWhoseSpecWasChanged(t *testing.T) {
	failed := func(image string) *v1beta2.DataEngineUpgradeManager {
		return manager("upgrade", v1beta2.UpgradeStateError, func(m *v1beta2.DataEngineUpgradeManager) {
			m.Generation, m.Status.InstanceManagerImage, m.Status.ErrorMessage = 2, image, "It burned."
		})
	}
	v := plan.Decide(world(failed(""), nil))
	require.Equal(t, v1beta2.UpgradeStateUndefined, v.Status.State, "it never had an image: it begins again")
	require.Empty(t, v.Status.ErrorMessage)

	v = plan.Decide(world(failed("image"), func(w *plan.World) {
		w.Others = append(w.Others, manager("a", v1beta2.UpgradeStateUpgrading, nil))
	}))
	require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
	require.Equal(t, v1beta2.ReasonWaitingForUpgrade, reason(v), "another one has begun meanwhile")

	require.True(t, plan.Decide(world(failed("image"), func(w *plan.World) { w.Fresh = false })).Confirm)
}

func TestAPlanHasAFinalizerBeforeItDoesAnything(t *testing.T) {
	for _, state := range []string{"", v1beta2.UpgradeStateUpgrading} {
		m := manager("upgrade", state, func(m *v1beta2.DataEngineUpgradeManager) { m.Finalizers = nil })
		v := plan.Decide(world(m, nil))
		require.True(t, v.AddFinalizer, state)
		require.Equal(t, m.Status, v.Status, state)
	}
}

// Nodes and volumes are read only where the decision needs them.
func TestWhenTheClusterIsRead(t *testing.T) {
	for state, reads := range map[string]bool{
		"": false, v1beta2.UpgradeStateUndefined: false, v1beta2.UpgradeStateInitializing: true, v1beta2.UpgradeStateUpgrading: true,
		v1beta2.UpgradeStatePaused: true, v1beta2.UpgradeStateAborting: false, v1beta2.UpgradeStateCompleted: false,
		v1beta2.UpgradeStateError: false, "dancing": false,
	} {
		require.Equal(t, reads, plan.ReadsCluster(manager("upgrade", state, nil)), state)
	}
	for _, state := range []string{v1beta2.UpgradeStateUpgrading, v1beta2.UpgradeStatePaused} {
		require.False(t, plan.ReadsCluster(manager("upgrade", state, func(m *v1beta2.DataEngineUpgradeManager) {
			m.Status.UpgradingNode = "node-1"
		})), "while a node is under way nothing is chosen")
	}
}

func TestTheStateOfTheNodesUpgradeIsReported(t *testing.T) {
	under := func(change func(*v1beta2.DataEngineUpgradeManager)) *v1beta2.DataEngineUpgradeManager {
		return manager("upgrade", v1beta2.UpgradeStateUpgrading, func(m *v1beta2.DataEngineUpgradeManager) {
			m.Status.UpgradingNode = "node-1"
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {}}
			if change != nil {
				change(m)
			}
		})
	}
	paused := func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.Paused = true }
	decide := func(m *v1beta2.DataEngineUpgradeManager, u *v1beta2.NodeDataEngineUpgrade) plan.Verdict {
		return plan.Decide(world(m, func(w *plan.World) { w.Upgrades = append(w.Upgrades, u) }))
	}
	v := decide(under(paused), node("node-1", ""))
	require.Equal(t, v1beta2.UpgradeStatePaused, v.Status.State, "the node has not begun")
	require.Equal(t, v1beta2.ReasonPaused, reason(v))
	require.Equal(t, v1beta2.UpgradeStateUpgrading, decide(under(paused), node("node-1", v1beta2.UpgradeStateSwitchingOver)).Status.State,
		"a node that has begun is not stopped half way")

	stalled := node("node-1", v1beta2.UpgradeStateSwitchingBack)
	stalled.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.UpgradeStalled, Status: v1beta2.ConditionTrue, Message: "Too slow."}}
	c := conditions.Get(decide(under(nil), stalled).Status.Conditions, v1beta2.UpgradeStalled)
	require.Equal(t, v1beta2.ConditionTrue, c.Status)
	require.Equal(t, "Node node-1: Too slow.", c.Message)
	stalled.Status.Conditions[0].Status = v1beta2.ConditionFalse
	require.False(t, conditions.IsTrue(decide(under(nil), stalled).Status.Conditions, v1beta2.UpgradeStalled))
}

// A name that is too long for Kubernetes is cut, and stays another for each node and each manager.
func TestTheNameOfANodesUpgradeFits(t *testing.T) {
	long := strings.Repeat("m", 253)
	require.Equal(t, "m-n", plan.UpgradeName("m", "n"))
	require.Equal(t, long[:251]+"-n", plan.UpgradeName(long[:251], "n"), "just fits")
	names := map[string]bool{}
	for _, name := range []string{
		plan.UpgradeName(long[:252], "n"), plan.UpgradeName(long, "n"), plan.UpgradeName(long, "o"), plan.UpgradeName(long, "n"),
	} {
		require.Len(t, name, 253)
		names[name] = true
	}
	require.Len(t, names, 3, "the same for the same")
}

// removed is a world from which a node was removed after it was planned, with its instance managers.
func removed(names ...string) func(*plan.World) {
	return func(w *plan.World) {
		for _, name := range names {
			delete(w.Cluster.Nodes, name)
		}
	}
}

// A planned node that is removed from the cluster is left out and named, and the upgrade completes with the others.
func TestAPlannedNodeThatIsRemovedIsLeftOut(t *testing.T) {
	planned := func(second v1beta2.UpgradeNodeStatus, nodes ...string) *v1beta2.DataEngineUpgradeManager {
		return upgrading(func(m *v1beta2.DataEngineUpgradeManager) {
			m.Spec.Nodes, m.Status.UpgradedNodes = nodes, []string{"node-1", "node-3"}
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateCompleted},
				"node-2": second, "node-3": {State: v1beta2.UpgradeStateCompleted}}
		})
	}
	failed := v1beta2.UpgradeNodeStatus{State: v1beta2.UpgradeStateError, ErrorMessage: "It burned."}
	for name, m := range map[string]*v1beta2.DataEngineUpgradeManager{
		"before its turn": planned(v1beta2.UpgradeNodeStatus{}), "after it failed": planned(failed),
		"also if spec.nodes names it": planned(v1beta2.UpgradeNodeStatus{}, "node-1", "node-2", "node-3"),
	} {
		t.Run(name, func(t *testing.T) {
			v := plan.Decide(world(m, removed("node-2")))
			require.Equal(t, v1beta2.UpgradeStateCompleted, v.Status.State)
			require.NotContains(t, v.Status.UpgradeNodes, "node-2")
			require.Equal(t, "its Node is gone", v.Status.ExcludedNodes["node-2"])
			require.Equal(t, "2/2", v.Status.Progress)
			require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeCompleted).Message, "node-2 (its Node is gone)")
			require.True(t, plan.Decide(world(m, func(w *plan.World) { removed("node-2")(w); w.Fresh = false })).Confirm)

			m.Status.State, m.Status.Conditions = v1beta2.UpgradeStateInitializing, nil
			v = plan.Decide(world(m, removed("node-2")))
			require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State, v.Status.ErrorMessage)
			require.Equal(t, "its Node is gone", v.Status.ExcludedNodes["node-2"])
			m.Status = v.Status
			require.Equal(t, v1beta2.UpgradeStateCompleted, plan.Decide(world(m, removed("node-2"))).Status.State)
			m.Status.State = v1beta2.UpgradeStateInitializing
			v = plan.Decide(world(m, removed("node-2")))
			require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State, "resumed once more: %s", v.Status.ErrorMessage)
			v = plan.Decide(world(m, nil))
			require.Contains(t, v.Status.UpgradeNodes, "node-2", "it is back")
			require.NotContains(t, v.Status.ExcludedNodes, "node-2")
		})
	}
}

func TestAPlannedNodeThatIsNotRemovedStaysInThePlan(t *testing.T) {
	planned := func() *v1beta2.DataEngineUpgradeManager {
		return upgrading(func(m *v1beta2.DataEngineUpgradeManager) {
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateCompleted}, "node-2": {}}
		})
	}
	change := func(change func(*v1beta2.Node)) func(*plan.World) {
		return func(w *plan.World) {
			n := w.Cluster.Nodes["node-2"]
			n.Object = n.Object.DeepCopy()
			change(n.Object)
			w.Cluster.Nodes["node-2"] = n
		}
	}
	for name, c := range map[string]func(*plan.World){
		"it is being deleted": change(func(n *v1beta2.Node) { n.DeletionTimestamp = &metav1.Time{Time: now} }),
		"it is down": change(func(n *v1beta2.Node) {
			n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionFalse,
				Reason: v1beta2.ReasonKubernetesNodeGone}}
		}),
		"its upgrade is under way": func(w *plan.World) {
			removed("node-2")(w)
			w.Upgrades = append(w.Upgrades, node("node-2", v1beta2.UpgradeStateRollingBack))
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, plan.Decide(world(planned(), c)).Status.UpgradeNodes, "node-2")
		})
	}
	m := planned()
	v := plan.Decide(world(m, removed("node-1")))
	require.Contains(t, v.Status.UpgradeNodes, "node-1", "it was upgraded before")
	require.Equal(t, "node-2", v.Status.UpgradingNode)
	m = manager("upgrade", v1beta2.UpgradeStateInitializing, func(m *v1beta2.DataEngineUpgradeManager) {
		m.Spec.Nodes = []string{"node-1", "node-2"}
	})
	v = plan.Decide(world(m, removed("node-2")))
	require.Equal(t, v1beta2.UpgradeStateError, v.Status.State, "it was never planned")
	require.Contains(t, v.Status.ErrorMessage, "UnknownNode")
}
