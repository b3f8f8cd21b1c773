package instancemanager

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestEvents(t *testing.T) {
	was := func(status v1beta2.ConditionStatus) func(*World) {
		return func(w *World) {
			w.InstanceManager.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: status}}
		}
	}
	cases := []struct {
		name  string
		world World
		want  []string
	}{
		{"nothing happened", world(), nil},
		{"a pod is made", world(noPod), []string{"PodCreated"}},
		{"a pod ended by itself", world(failedPod), []string{"PodFailed"}},
		{"an empty old one loses its pod", world(old, asked), []string{"PodDeleted"}},
		{"an old one goes", world(old, noPod), []string{"Removed"}},
		{"silence begins", world(unheard, was(v1beta2.ConditionTrue)), []string{"NotAnswering"}},
		{"silence lasts", world(unheard, was(v1beta2.ConditionFalse)), nil},
		{"silence ends", world(was(v1beta2.ConditionFalse)), []string{"Answering"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range Decide(c.world).Events {
				got = append(got, e.Reason)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// The port at our end is another one with each attempt, and no news.
func TestTheMessageOfAnUnreachableInstanceManagerFollowsItsCause(t *testing.T) {
	because := func(problem string) func(*World) {
		return func(w *World) { w.Inventory.Problem = problem }
	}
	reachable := func(v Verdict) *v1beta2.Condition {
		return conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerReachable)
	}
	at := func(port string) string { return "read tcp 10.0.0.9:" + port + "->10.0.0.1:8503: connection reset" }
	w := world(unheard, because(at("41000")))
	v := Decide(w)
	require.Contains(t, reachable(v).Message, "(read tcp 10.0.0.1:8503: connection reset)")
	require.Equal(t, w.Options.UnreachableAfter, v.After, "the cause is looked at again")
	w.InstanceManager.Status.Conditions = v.Status.Conditions

	because(at("41001"))(&w)
	require.Equal(t, *reachable(v), *reachable(Decide(w)))
	because("")(&w)
	require.Equal(t, *reachable(v), *reachable(Decide(w)), "nothing newer is known")
	because("certificate is valid for somebody.else")(&w)
	v = Decide(w)
	require.Equal(t, v1beta2.ConditionFalse, reachable(v).Status)
	require.Contains(t, reachable(v).Message, "(certificate is valid for somebody.else)")
	require.Empty(t, v.Events, "the silence is the same")
}

func TestAnEventNamesTheNodeAndTheReason(t *testing.T) {
	upgrade := inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
	silent := func(w *World) {
		unheard(w)
		w.Inventory.Problem = "connection reset"
	}
	heard := func(w *World) {
		w.InstanceManager.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: v1beta2.ConditionFalse}}
	}
	for name, c := range map[string]struct {
		world World
		want  string
	}{
		"made": {world(noPod), "Normal PodCreated CreatePod: Made the instance-manager pod of node node-1 with image " + newImage + "."},
		"ended": {world(evictedPod), "Warning PodFailed ReplacePod: The instance-manager pod of node node-1 ended by itself (Evicted) and is " +
			"replaced; v1 instances and v2 engines ended with it."},
		"ended in an upgrade": {world(upgrade, isOld, evictedPod), "Warning PodFailed ReplacePod: The instance-manager pod of node node-1 " +
			"ended by itself (Evicted) and is replaced; v1 instances and v2 engines ended with it."},
		"deleted when idle": {world(old, asked), "Normal PodDeleted DeletePod: Deleted the instance-manager pod of node node-1: nothing runs " +
			"on it and its image or settings are out of date."},
		"deleted by an upgrade": {world(upgrade, isOld, asked), "Normal PodDeleted DeletePod: Deleted the instance-manager pod of node " +
			"node-1: a live upgrade replaces it, and no engine needs it."},
		"deleted with its node": {world(gone, deletedNode), "Normal PodDeleted DeletePod: Deleted the instance-manager pod of node node-1: " +
			"the node is gone."},
		"deleted with its node in an upgrade": {world(upgrade, isOld, gone, deletedNode), "Normal PodDeleted DeletePod: Deleted the " +
			"instance-manager pod of node node-1: the node is gone."},
		"removed": {world(old, noPod), "Normal Removed RemoveInstanceManager: Removed the instance manager of node node-1 with image " +
			oldImage + ": it is not wanted any more and nothing runs on it."},
		"removed by an upgrade": {world(upgrade, isOld, noPod), "Normal Removed RemoveInstanceManager: Removed the instance manager of node " +
			"node-1 with image " + oldImage + ": a live upgrade replaced it."},
		"silent": {world(silent), "Warning NotAnswering ReadInstances: The instance manager of node node-1 does not answer. No whole list of " +
			"instances could be read for 15s (connection reset); what runs there is unknown, nothing is concluded from it."},
		"heard again": {world(heard), "Normal Answering ReadInstances: The instance manager of node node-1 answers again."},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, Decide(c.world).Events, 1)
			e := Decide(c.world).Events[0]
			require.Equal(t, c.want, e.Type+" "+e.Reason+" "+e.Action+": "+e.Note)
		})
	}
}

func TestAPodThatStaysIsNoEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		about := map[string]int{}
		for _, e := range v.Events {
			about[e.Reason]++
		}
		require.Equal(t, v.Pod == CreatePod, about["PodCreated"] == 1)
		require.Equal(t, v.Failed, about["PodFailed"] == 1)
		require.Equal(t, !v.Failed && (v.Pod == DeletePod || v.Pod == ForceDeletePod), about["PodDeleted"] == 1)
		require.Equal(t, v.Remove, about["Removed"] == 1)
		write(w.InstanceManager, v)
		for _, e := range Decide(w).Events {
			require.NotContains(t, []string{"NotAnswering", "Answering"}, e.Reason, "what lasts is reported once")
		}
	})
}
