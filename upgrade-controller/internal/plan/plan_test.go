package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/plan"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// manager is an upgrade in a state.
func manager(name, state string, change func(*v1beta2.DataEngineUpgradeManager)) *v1beta2.DataEngineUpgradeManager {
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: metav1.ObjectMeta{
		Name: name, Finalizers: []string{v1beta2.Finalizer}, Generation: 1, CreationTimestamp: metav1.NewTime(now)}}
	m.Spec.DataEngine = v1beta2.DataEngineV2
	m.Status.State, m.Status.ObservedGeneration = state, 1
	if state != "" && state != v1beta2.UpgradeStateUndefined {
		m.Status.InstanceManagerImage, m.Status.RehearsalRequestedAt = model.NewImage, "2026-01-01T11:59:59Z"
		model.Answer(m, plan.Triers...)
	}
	if change != nil {
		change(m)
	}
	return m
}

// world is three nodes with a volume on each.
func world(m *v1beta2.DataEngineUpgradeManager, change func(*plan.World)) plan.World {
	objects := model.New()
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		objects.AddNode(name)
	}
	objects.AddVolume("vol-1", "node-1", "node-1", "node-2", "node-3")
	w := plan.World{Now: now, Manager: m, DefaultImage: model.NewImage, Cluster: objects.Cluster(), Fresh: true,
		Images: map[string]plan.Image{}}
	for name := range objects.Nodes {
		w.Images[name] = plan.Image{Known: true}
	}
	if change != nil {
		change(&w)
	}
	return w
}

func reason(v plan.Verdict) string {
	return conditions.Reason(v.Status.Conditions, v1beta2.UpgradeProgressing)
}

func node(name, state string) *v1beta2.NodeDataEngineUpgrade {
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "upgrade-" + name}}
	u.Spec = v1beta2.NodeDataEngineUpgradeSpec{NodeID: name, DataEngineUpgradeManager: "upgrade",
		InstanceManagerImage: upgrading(nil).Status.InstanceManagerImage}
	u.Status.State = state
	return u
}

func TestWhatAnUpgradeWaitsForBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		manager func(*v1beta2.DataEngineUpgradeManager)
		world   func(*plan.World)
		reason  string
	}{
		"the setting names no image": {world: func(w *plan.World) { w.DefaultImage = "" }, reason: v1beta2.ReasonWaitingForImage},
		"it is paused": {manager: func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.Paused = true },
			reason: v1beta2.ReasonPaused},
		"an unknown policy": {manager: func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.OnFailure = "Explode" },
			reason: v1beta2.ReasonNotUnderstood},
		"an unknown data engine": {
			manager: func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.DataEngine = "v3" }, reason: v1beta2.ReasonNotUnderstood},
		"an older one waits, too": {world: func(w *plan.World) {
			w.Others = append(w.Others, manager("z", "",
				func(m *v1beta2.DataEngineUpgradeManager) { m.CreationTimestamp = metav1.NewTime(now.Add(-time.Second)) }))
		}, reason: v1beta2.ReasonWaitingForUpgrade},
		"one of the same second with a name before this one": {world: func(w *plan.World) {
			w.Others = append(w.Others, manager("a", "", nil))
		}, reason: v1beta2.ReasonWaitingForUpgrade},
		"a younger one has begun": {world: func(w *plan.World) {
			w.Others = append(w.Others, manager("z", v1beta2.UpgradeStatePaused,
				func(m *v1beta2.DataEngineUpgradeManager) { m.CreationTimestamp = metav1.NewTime(now.Add(time.Hour)) }))
		}, reason: v1beta2.ReasonWaitingForUpgrade},
	} {
		t.Run(name, func(t *testing.T) {
			v := plan.Decide(world(manager("upgrade", "", c.manager), c.world))
			require.Equal(t, v1beta2.UpgradeStateUndefined, v.Status.State)
			require.Equal(t, c.reason, reason(v))
			require.Empty(t, v.Status.InstanceManagerImage)
		})
	}
}

func TestTheImageIsFrozenWhenTheTurnComes(t *testing.T) {
	v := plan.Decide(world(manager("upgrade", "", nil), func(w *plan.World) {
		w.Others = append(w.Others, manager("a", v1beta2.UpgradeStateCompleted, nil), manager("b", v1beta2.UpgradeStateError, nil))
	}))
	require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
	require.Equal(t, model.NewImage, v.Status.InstanceManagerImage)
	again := plan.Decide(world(manager("upgrade", v1beta2.UpgradeStateInitializing, nil),
		func(w *plan.World) { w.DefaultImage = "another" }))
	require.Equal(t, model.NewImage, again.Status.InstanceManagerImage)
}

func TestNothingBeginsOnReadsOfTheCache(t *testing.T) {
	for _, state := range []string{"", v1beta2.UpgradeStateInitializing} {
		require.True(t, plan.Decide(world(manager("upgrade", state, nil), func(w *plan.World) { w.Fresh = false })).Confirm, state)
	}
	require.True(t, plan.Decide(world(upgrading(nil), func(w *plan.World) { w.Fresh = false })).Confirm, "nor does a node")
}

func TestAnImageIsTriedWhereNobodyKnowsIt(t *testing.T) {
	m := manager("upgrade", v1beta2.UpgradeStateInitializing, nil)
	v := plan.Decide(world(m, func(w *plan.World) { delete(w.Images, "node-2") }))
	require.Equal(t, []string{"node-2"}, v.Check)
	require.Equal(t, v1beta2.ReasonCheckingImages, reason(v))
	require.Equal(t, now.Add(10*time.Minute), v.RequeueAt)
	m.Status = v.Status
	late := plan.Decide(world(m, func(w *plan.World) {
		delete(w.Images, "node-2")
		w.Now = now.Add(10 * time.Minute)
	}))
	require.Equal(t, v1beta2.UpgradeStateError, late.Status.State)
	require.Contains(t, late.Status.ErrorMessage, "Node node-2: ImageMissing")
}

// Whoever does not see what runs does not know what stands against an upgrade: it waits, as long as for images.
func TestWhatIsNotSeenAtTheMomentIsWaitedFor(t *testing.T) {
	for name, unseen := range map[string]func(*plan.World){
		"volume vol-1": func(w *plan.World) {
			w.Cluster.Volumes["vol-1"].Engines[0].Status.CurrentState = v1beta2.InstanceStateUnknown
		},
		"The instances of volume vol-1": func(w *plan.World) {
			w.Cluster.Volumes["vol-1"].Replicas[1].Status.CurrentState = v1beta2.InstanceStateUnknown
		},
		"of volume vol-1": func(w *plan.World) { // its parts are seen again, and attach-controller has not evaluated it yet
			w.Cluster.Volumes["vol-1"].Object.Status.Robustness = v1beta2.VolumeRobustnessUnknown
		},
		"the instance manager of node node-2": func(w *plan.World) {
			w.Cluster.Nodes["node-2"].Managers[0].Status.CurrentState = v1beta2.InstanceManagerStateUnknown
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := manager("upgrade", v1beta2.UpgradeStateInitializing, nil)
			v := plan.Decide(world(m, unseen))
			require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
			require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message, name)
			require.Equal(t, now.Add(10*time.Minute), v.RequeueAt)
			m.Status = v.Status
			require.Equal(t, v1beta2.UpgradeStateUpgrading, plan.Decide(world(m, nil)).Status.State, "and continues when it is seen")
			late := plan.Decide(world(m, func(w *plan.World) { unseen(w); w.Now = now.Add(10 * time.Minute) }))
			require.NotEqual(t, v1beta2.UpgradeStateInitializing, late.Status.State, "but not for ever")
		})
	}
}

func TestARefusalNamesTheBlockersOfEveryNode(t *testing.T) {
	v := plan.Decide(world(manager("upgrade", v1beta2.UpgradeStateInitializing, func(m *v1beta2.DataEngineUpgradeManager) {
		m.Spec.Nodes = []string{"node-9", "node-1", "node-3"}
	}), func(w *plan.World) {
		w.Images["node-3"] = plan.Image{Known: true, Missing: "ErrImagePull"}
		w.Cluster.Volumes["vol-1"].Object.Spec.MigrationNodeID = "node-2"
	}))
	require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
	for _, part := range []string{"Node node-9: UnknownNode", "Nodes node-1, node-3, volume vol-1: Migrating", "Node node-3: ImageMissing"} {
		require.Contains(t, v.Status.ErrorMessage, part)
	}
	require.True(t, conditions.IsFalse(v.Status.Conditions, v1beta2.UpgradePreflight))
	require.Empty(t, v.Create)
}

func TestTheOrderOfNodes(t *testing.T) {
	objects := model.New()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		objects.AddNode(name)
	}
	for name := range objects.Managers {
		if objects.Managers[name].Spec.NodeID == "e" {
			delete(objects.Managers, name)
		}
	}
	objects.AddVolume("vol-1", "a", "a", "b")
	objects.AddVolume("vol-2", "a", "a", "b")
	objects.AddVolume("vol-3", "b", "a", "b")
	c := objects.Cluster()
	require.Equal(t, []string{"c", "d", "b", "a"}, c.Order(nil),
		"empty first, then fewest engines; without v2 not at all")
	require.Equal(t, []string{"a", "e"}, c.Order([]string{"a", "e", "a"}),
		"as it was asked for")
}

// upgrading is a manager that has planned three nodes.
func upgrading(change func(*v1beta2.DataEngineUpgradeManager)) *v1beta2.DataEngineUpgradeManager {
	return manager("upgrade", v1beta2.UpgradeStateUpgrading, func(m *v1beta2.DataEngineUpgradeManager) {
		m.Spec.Nodes = []string{"node-1", "node-2", "node-3"}
		m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {}, "node-2": {}, "node-3": {}}
		if change != nil {
			change(m)
		}
	})
}

func under(node string) func(*v1beta2.DataEngineUpgradeManager) {
	return func(m *v1beta2.DataEngineUpgradeManager) { m.Status.UpgradingNode = node }
}

func TestANodeIsWrittenDownBeforeItsUpgradeIsMade(t *testing.T) {
	m := upgrading(nil)
	v := plan.Decide(world(m, nil))
	require.Equal(t, "node-1", v.Status.UpgradingNode)
	require.Empty(t, v.Create)
	m.Status = v.Status
	v = plan.Decide(world(m, nil))
	require.Equal(t, "upgrade-node-1", v.CreateName)

	// What is reported then holds until the node's upgrade has a state.
	begins := v.Status.Conditions
	require.Contains(t, conditions.Get(begins, v1beta2.UpgradeProgressing).Message,
		"Node node-1 begins; NodeDataEngineUpgrade upgrade-node-1 states")
	m.Status = v.Status
	v = plan.Decide(world(m, func(w *plan.World) { w.Upgrades = append(w.Upgrades, node("node-1", "")) }))
	require.Equal(t, begins, v.Status.Conditions)
}

// A node's upgrade was created, and aborted before the cache shows it.
func TestAnAbortForgetsANodeOnceItsUpgradeIsKnownNotToExist(t *testing.T) {
	m := upgrading(func(m *v1beta2.DataEngineUpgradeManager) { under("node-1")(m); m.Spec.Abort = true })
	v := plan.Decide(world(m, func(w *plan.World) { w.Fresh = false }))
	require.True(t, v.Confirm)
	v = plan.Decide(world(m, nil))
	require.False(t, v.Confirm)
	require.Empty(t, v.Status.UpgradingNode)
}

// UPG-2.
func TestNoNodeBeginsWhileAnotherIsUnderWay(t *testing.T) {
	other := node("node-2", v1beta2.UpgradeStateRollingBack)
	other.Spec.DataEngineUpgradeManager = "another"
	v := plan.Decide(world(upgrading(nil), func(w *plan.World) { w.Upgrades = append(w.Upgrades, other) }))
	require.Empty(t, v.Status.UpgradingNode)
	require.Equal(t, v1beta2.ReasonWaitingForUpgrade, reason(v))
}

func TestWhatFollowsWhenANodeEnds(t *testing.T) {
	failed := node("node-1", v1beta2.UpgradeStateError)
	failed.Status.ErrorMessage = "It burned."
	with := func(u *v1beta2.NodeDataEngineUpgrade) func(*plan.World) {
		return func(w *plan.World) { w.Upgrades = append(w.Upgrades, u) }
	}
	t.Run("a completed one is counted and the next begins", func(t *testing.T) {
		v := plan.Decide(world(upgrading(under("node-1")), with(node("node-1", v1beta2.UpgradeStateCompleted))))
		require.Equal(t, []string{"node-1"}, v.Status.UpgradedNodes)
		require.Empty(t, v.Status.UpgradingNode)
	})
	t.Run("a failed one is tried again as often as allowed", func(t *testing.T) {
		m := upgrading(func(m *v1beta2.DataEngineUpgradeManager) { under("node-1")(m); m.Spec.MaxRetries = 1 })
		v := plan.Decide(world(m, with(failed)))
		require.Equal(t, 1, v.Status.UpgradeNodes["node-1"].RetryCount)
		m.Status = v.Status
		require.Empty(t, plan.Decide(world(m, with(node("node-1", "")))).Delete, "this is the next try, and the cache is behind with the plan")
		v = plan.Decide(world(m, with(failed)))
		require.Len(t, v.Delete, 1)
		m.Status = v.Status
		v = plan.Decide(world(m, nil))
		require.Equal(t, "node-1", v.Create)
		m.Status = v.Status
		v = plan.Decide(world(m, with(failed)))
		require.Equal(t, v1beta2.UpgradeStateError, v.Status.UpgradeNodes["node-1"].State, "once is once")
	})
	t.Run("halt", func(t *testing.T) {
		m := upgrading(under("node-1"))
		m.Status = plan.Decide(world(m, with(failed))).Status
		v := plan.Decide(world(m, with(failed)))
		require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
		require.Contains(t, v.Status.ErrorMessage, "It burned.")
	})
	t.Run("continue", func(t *testing.T) {
		m := upgrading(func(m *v1beta2.DataEngineUpgradeManager) { under("node-1")(m); m.Spec.OnFailure = plan.Continue })
		m.Status = plan.Decide(world(m, with(failed))).Status
		v := plan.Decide(world(m, with(failed)))
		require.Equal(t, "node-2", v.Status.UpgradingNode)
	})
	t.Run("the last one failed", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) {
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateError,
				ErrorMessage: "It burned."}}
		}), nil))
		require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
		require.Contains(t, v.Status.ErrorMessage, "Node node-1 failed: It burned.", "a person reads why, in one place")
	})
	t.Run("the last one", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) {
			for name := range m.Status.UpgradeNodes {
				m.Status.UpgradeNodes[name] = v1beta2.UpgradeNodeStatus{State: v1beta2.UpgradeStateCompleted}
			}
		}), nil))
		require.Equal(t, v1beta2.UpgradeStateCompleted, v.Status.State)
		require.True(t, conditions.IsTrue(v.Status.Conditions, v1beta2.UpgradeCompleted))
	})
}

func TestWhatPeopleDoToAnUpgrade(t *testing.T) {
	going := node("node-1", v1beta2.UpgradeStateSwitchingOver)
	with := func(w *plan.World) { w.Upgrades = append(w.Upgrades, going) }
	t.Run("paused between nodes", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.Paused = true }), nil))
		require.Equal(t, v1beta2.UpgradeStatePaused, v.Status.State)
		require.Empty(t, v.Status.UpgradingNode)
	})
	t.Run("paused while a node is under way: that continues", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) { under("node-1")(m); m.Spec.Paused = true }), with))
		require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State)
	})
	t.Run("aborted while a node is under way: that comes to its end", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) { under("node-1")(m); m.Spec.Abort = true }), with))
		require.Equal(t, v1beta2.UpgradeStateAborting, v.Status.State)
		require.Equal(t, "node-1", v.Status.UpgradingNode)
	})
	t.Run("aborted between nodes", func(t *testing.T) {
		v := plan.Decide(world(upgrading(func(m *v1beta2.DataEngineUpgradeManager) { m.Spec.Abort = true }), nil))
		require.Equal(t, v1beta2.UpgradeStateError, v.Status.State)
		require.Equal(t, v1beta2.ReasonAborted, reason(v))
	})
	t.Run("deleted: its nodes first", func(t *testing.T) {
		m := upgrading(under("node-1"))
		m.DeletionTimestamp = &metav1.Time{Time: now}
		v := plan.Decide(world(m, with))
		require.Equal(t, []*v1beta2.NodeDataEngineUpgrade{going}, v.Delete)
		require.False(t, v.DropFinalizer)
		require.True(t, plan.Decide(world(m, nil)).DropFinalizer)
	})
	t.Run("a node's upgrade is deleted: it comes to its end, and a new one is made, whether its end was seen or not", func(t *testing.T) {
		m := upgrading(under("node-1"))
		for _, state := range []string{v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateError} {
			deleted := node("node-1", state)
			deleted.DeletionTimestamp = &metav1.Time{Time: now}
			v := plan.Decide(world(m, func(w *plan.World) { w.Upgrades = append(w.Upgrades, deleted) }))
			require.Equal(t, "node-1", v.Status.UpgradingNode, state)
			require.Empty(t, v.Create)
			m.Status = v.Status
		}
		require.Equal(t, "node-1", plan.Decide(world(m, nil)).Create)
	})
	t.Run("the spec of a failed one is changed: it continues", func(t *testing.T) {
		m := manager("upgrade", v1beta2.UpgradeStateError, func(m *v1beta2.DataEngineUpgradeManager) {
			m.Generation = 2
			m.Status.UpgradedNodes = []string{"node-2"}
			m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: v1beta2.UpgradeStateError},
				"node-2": {State: v1beta2.UpgradeStateCompleted}}
		})
		v := plan.Decide(world(m, nil))
		require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
		require.Equal(t, []string{"node-2"}, v.Status.UpgradedNodes)
		require.NotEqual(t, v1beta2.UpgradeStateError, v.Status.UpgradeNodes["node-1"].State)
	})
	t.Run("a failed one stays failed", func(t *testing.T) {
		m := manager("upgrade", v1beta2.UpgradeStateError, nil)
		require.Equal(t, v1beta2.UpgradeStateError, plan.Decide(world(m, nil)).Status.State)
	})
}

func TestAStateThatNobodyKnowsIsLeftAlone(t *testing.T) {
	m := manager("upgrade", "dancing", nil)
	v := plan.Decide(world(m, nil))
	require.Equal(t, plan.Verdict{Status: m.Status}, v)
}

func TestAnObjectOfTheSameNameIsNotTakenForTheUpgradesOwn(t *testing.T) {
	with := func(u *v1beta2.NodeDataEngineUpgrade) plan.Verdict {
		return plan.Decide(world(upgrading(under("node-1")), func(w *plan.World) { w.Upgrades = append(w.Upgrades, u) }))
	}
	previous := node("node-1", v1beta2.UpgradeStateCompleted)
	previous.Spec.DataEngineUpgradeManager, previous.Spec.NodeID = "upg", "rade-node-1"
	v := with(previous)
	require.Empty(t, v.Create, "the API server would refuse it for ever")
	require.Equal(t, v1beta2.ReasonWaitingForUpgrade, reason(v))
	require.Empty(t, v.Delete, "another manager's is a person's to delete")

	for name, change := range map[string]func(*v1beta2.NodeDataEngineUpgrade){
		"another image": func(u *v1beta2.NodeDataEngineUpgrade) { u.Spec.InstanceManagerImage = "older" },
		"a manager of the same name before": func(u *v1beta2.NodeDataEngineUpgrade) {
			u.OwnerReferences = []metav1.OwnerReference{{Kind: "DataEngineUpgradeManager", Name: "upgrade", UID: "before"}}
		},
	} {
		earlier := node("node-1", v1beta2.UpgradeStateCompleted)
		change(earlier)
		v := with(earlier)
		require.Empty(t, v.Status.UpgradedNodes, "%s: it does not count as upgraded", name)
		require.Len(t, v.Delete, 1, name)
	}
}

// U5: whoever reads that all nodes are upgraded does not find one that runs the old image.
func TestNodesThatAreLeftOutAreNamed(t *testing.T) {
	leaving := func(w *plan.World) {
		n := w.Cluster.Nodes["node-3"]
		n.Object = n.Object.DeepCopy()
		n.Object.DeletionTimestamp = &metav1.Time{Time: now}
		w.Cluster.Nodes["node-3"] = n
	}
	t.Run("one that is being deleted when the plan is made", func(t *testing.T) {
		v := plan.Decide(world(manager("upgrade", v1beta2.UpgradeStateInitializing, nil), leaving))
		require.Equal(t, v1beta2.UpgradeStateUpgrading, v.Status.State)
		require.NotContains(t, v.Status.UpgradeNodes, "node-3")
		require.Equal(t, map[string]string{"node-3": "its Node is being deleted"}, v.Status.ExcludedNodes)
		require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradePreflight).Message, "node-3 (its Node is being deleted)")
	})
	done := func(m *v1beta2.DataEngineUpgradeManager) {
		m.Spec.Nodes = nil
		m.Status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{
			"node-1": {State: v1beta2.UpgradeStateCompleted}, "node-2": {State: v1beta2.UpgradeStateCompleted}}
	}
	for name, c := range map[string]struct {
		manager func(*v1beta2.DataEngineUpgradeManager)
		world   func(*plan.World)
		why     string
	}{
		"one that is being deleted at the end": {manager: done, world: leaving, why: "its Node is being deleted"},
		"one that spec.nodes does not name": {manager: func(m *v1beta2.DataEngineUpgradeManager) {
			done(m)
			m.Spec.Nodes = []string{"node-1", "node-2"}
		}, why: "spec.nodes does not name it"},
		"one that came later": {manager: done, why: "it joined after the plan was created"},
		"one whose Node is gone": {manager: done, world: func(w *plan.World) {
			n := w.Cluster.Nodes["node-3"]
			n.Object = nil
			w.Cluster.Nodes["node-3"] = n
		}, why: "its Node is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			v := plan.Decide(world(upgrading(c.manager), c.world))
			require.Equal(t, v1beta2.UpgradeStateCompleted, v.Status.State)
			require.Equal(t, c.why, v.Status.ExcludedNodes["node-3"])
			completed := conditions.Get(v.Status.Conditions, v1beta2.UpgradeCompleted).Message
			require.Contains(t, completed, "node-3 ("+c.why+")")
			require.NotContains(t, completed, "All nodes are upgraded")
		})
	}
}

// U6: a second apply of the same name changes nothing, and the object reports it.
func TestACompletedUpgradeSaysThatItDoesNotBeginAgain(t *testing.T) {
	m := manager("upgrade", v1beta2.UpgradeStateCompleted, nil)
	require.Equal(t, v1beta2.ReasonCompleted, reason(plan.Decide(world(m, nil))))
	v := plan.Decide(world(m, func(w *plan.World) { w.DefaultImage = "newer" }))
	require.Equal(t, v1beta2.UpgradeStateCompleted, v.Status.State)
	require.Equal(t, v1beta2.ReasonAnotherImage, reason(v))
	require.Contains(t, conditions.Get(v.Status.Conditions, v1beta2.UpgradeProgressing).Message,
		"For newer, which the setting default-instance-manager-image names now, create a DataEngineUpgradeManager of another name.")
	m.Status = v.Status
	require.Equal(t, v1beta2.ReasonCompleted, reason(plan.Decide(world(m, nil))), "the setting is as it was")
}

// U4: what ends by itself within seconds does not end an upgrade in error.
func TestWorkThatEndsByItselfIsWaitedForBeforeTheFirstNode(t *testing.T) {
	busy := func(w *plan.World) {
		v := w.Cluster.Volumes["vol-1"]
		v.Removals, v.Backups = []string{"snap-1"}, []string{"backup-1"}
		w.Cluster.Volumes["vol-1"] = v
	}
	m := manager("upgrade", v1beta2.UpgradeStateInitializing, nil)
	v := plan.Decide(world(m, busy))
	require.Equal(t, v1beta2.UpgradeStateInitializing, v.Status.State)
	require.Equal(t, now.Add(10*time.Minute), v.RequeueAt)
	blocked := conditions.Get(v.Status.Conditions, v1beta2.UpgradePreflight)
	require.Contains(t, blocked.Message, "volume vol-1: RemovingSnapshot: snapshot snap-1 is being removed")
	require.Contains(t, blocked.Message, "volume vol-1: BackingUp: backup backup-1 is being taken")
	m.Status = v.Status
	t.Run("not for ever", func(t *testing.T) {
		late := plan.Decide(world(m, func(w *plan.World) { busy(w); w.Now = now.Add(11 * time.Minute) }))
		require.Equal(t, v1beta2.UpgradeStateError, late.Status.State)
		require.Contains(t, late.Status.ErrorMessage, "BackingUp")
	})
	t.Run("nothing of it is left", func(t *testing.T) {
		require.Equal(t, v1beta2.UpgradeStateUpgrading, plan.Decide(world(m, nil)).Status.State)
	})
	t.Run("not beside what a person has to do", func(t *testing.T) {
		blocked := plan.Decide(world(m, func(w *plan.World) {
			busy(w)
			w.Images["node-1"] = plan.Image{Known: true,
				Missing: "ErrImagePull"}
		}))
		require.Equal(t, v1beta2.UpgradeStateError, blocked.Status.State)
	})
}
