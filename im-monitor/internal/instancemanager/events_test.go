package instancemanager

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
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
