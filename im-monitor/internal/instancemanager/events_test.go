package instancemanager

import (
	"testing"

	"github.com/stretchr/testify/require"

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
