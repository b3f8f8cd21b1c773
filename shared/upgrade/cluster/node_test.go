package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhichNodesServe(t *testing.T) {
	for sentence, c := range map[string]struct {
		node                 Node
		exists, down, serves bool
	}{
		"in service with a running instance manager": {node("a"), true, false, true},
		"no such Node":        {Node{Managers: node("a").Managers}, false, true, false},
		"one that is deleted": {node("a", func(n *Node) { n.Object.DeletionTimestamp = going }), false, false, false},
		"out of service":      {node("a", down), true, true, false},
		"no instance manager": {node("a", with()), true, false, false},
		"none that runs": {
			node("a", with(manager("m", "a", inState(v1beta2.InstanceManagerStateStarting)))), true, false, false},
		"one that is not seen": {
			node("a", with(manager("m", "a", inState(v1beta2.InstanceManagerStateUnknown)))), true, false, false},
		"one that runs and is being deleted": {node("a", with(manager("m", "a", deleted))), true, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.exists, c.node.Exists(), "exists")
			require.Equal(t, c.down, c.node.Down(), "down")
			require.Equal(t, c.serves, c.node.Serves(), "serves")
		})
	}
}

func TestTheRunningInstanceManagerIsFoundAmongOthers(t *testing.T) {
	runs := manager("m-2", "a")
	n := node("a", with(manager("m-0", "a", inState(v1beta2.InstanceManagerStateStopped)), manager("m-1", "a", deleted), runs))
	require.Same(t, runs, n.Running())
}

func TestAnImageRunsOnceItsInstanceManagerAnswered(t *testing.T) {
	reachable := func(status v1beta2.ConditionStatus) func(*v1beta2.InstanceManager) {
		return func(m *v1beta2.InstanceManager) {
			m.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: status}}
		}
	}
	for sentence, c := range map[string]struct {
		manager *v1beta2.InstanceManager
		runs    bool
	}{
		"it answered":                 {manager("m", "a", ofImage(newImage)), true},
		"it answers":                  {manager("m", "a", ofImage(newImage), reachable(v1beta2.ConditionTrue)), true},
		"it does not answer any more": {manager("m", "a", ofImage(newImage), reachable(v1beta2.ConditionFalse)), false},
		"another image":               {manager("m", "a"), false},
		"it did not report its API version": {manager("m", "a", ofImage(newImage),
			func(m *v1beta2.InstanceManager) { m.Status.APIVersion = 0 }), false},
		"it does not run yet": {manager("m", "a", ofImage(newImage), inState(v1beta2.InstanceManagerStateStarting)),
			false},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.runs, node("a", with(c.manager)).Runs(newImage)) })
	}
	require.False(t, node("a", with()).Runs(newImage))
}

func TestWhichInstanceManagerIsReplacedFirst(t *testing.T) {
	stoppedOne := manager("m-0", "a", inState(v1beta2.InstanceManagerStateStopped))
	runningOne, another := manager("m-1", "a"), manager("m-2", "a")
	current := manager("m-3", "a", ofImage(newImage))
	require.Same(t, runningOne, node("a", with(stoppedOne, runningOne, another, current)).Old(newImage), "the first that runs")
	require.Same(t, runningOne, node("a", with(runningOne, stoppedOne)).Old(newImage), "whatever comes after it")
	require.Same(t, stoppedOne, node("a", with(current, stoppedOne)).Old(newImage), "one that does not run, too")
	require.Nil(t, node("a", with(current)).Old(newImage))
}

func TestWhenNothingIsLeftToDoOnANode(t *testing.T) {
	current := manager("m-new", "a", ofImage(newImage))
	old := func(state string) *v1beta2.InstanceManager { return manager("m-old", "a", inState(state)) }
	for sentence, c := range map[string]struct {
		node     Node
		upgraded bool
	}{
		"it has no v2":                           {node("a", with()), true},
		"the image runs alone":                   {node("a", with(current)), true},
		"another is stopped":                     {node("a", with(current, old(v1beta2.InstanceManagerStateStopped))), true},
		"another was never started":              {node("a", with(current, old(""))), true},
		"another runs":                           {node("a", with(current, old(v1beta2.InstanceManagerStateRunning))), false},
		"another may run":                        {node("a", with(current, old(v1beta2.InstanceManagerStateUnknown))), false},
		"another is stopped and no new one runs": {node("a", with(old(v1beta2.InstanceManagerStateStopped))), false},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.upgraded, c.node.Upgraded(newImage)) })
	}
}

// An instance manager that was made again under the same name is another one: it runs other instances.
func TestAnInstanceManagerIsFoundByNameAndUID(t *testing.T) {
	m := manager("m", "a")
	n := node("a", with(manager("m-0", "a"), m))
	require.Same(t, m, n.Manager(&v1beta2.InstanceManagerReference{Name: "m", UID: "m-uid"}))
	require.Nil(t, n.Manager(&v1beta2.InstanceManagerReference{Name: "m", UID: "of before"}))
	require.Nil(t, n.Manager(&v1beta2.InstanceManagerReference{Name: "other", UID: "m-uid"}))
	require.Nil(t, n.Manager(nil), "nothing is recorded")
}

func TestAnInstanceManagerIsUntouchedUntilItsReplacementBegins(t *testing.T) {
	require.True(t, Untouched(manager("m", "a")))
	require.False(t, Untouched(nil), "it is gone")
	require.False(t, Untouched(manager("m", "a", deleted)))
	require.False(t, Untouched(manager("m", "a", inState(v1beta2.InstanceManagerStateStopped))))
}

func TestWhichNodesTakeTargetsOfOthers(t *testing.T) {
	for sentence, c := range map[string]struct {
		node   Node
		taking bool
		free   string
	}{
		"an ordinary node":               {node("a"), true, ""},
		"one that is evicted":            {node("a", evicted), false, "being evicted"},
		"one without scheduling":         {node("a", schedulingOff), false, "scheduling off"},
		"both: the eviction is reported": {node("a", evicted, schedulingOff), false, "being evicted"},
		"one that is upgraded itself":    {node("a", cordoned), false, ""},
		"one that is down":               {node("a", down), false, ""},
		"one that does not exist":        {Node{}, false, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			require.Equal(t, c.taking, c.node.Taking())
			require.Equal(t, c.free, c.node.KeptFree())
		})
	}
}

// A node that could hold no target anyway is no choice of a person.
func TestWhichNodesAPersonKeepsFree(t *testing.T) {
	c := cluster(on("c", schedulingOff), on("b", evicted), on("a", evicted),
		on("d", schedulingOff, down), on("e", schedulingOff, cordoned), on("f"))
	require.Equal(t, "b (being evicted), c (scheduling off)", c.KeptFree("a"))
	require.Empty(t, cluster().KeptFree("a"))
}
