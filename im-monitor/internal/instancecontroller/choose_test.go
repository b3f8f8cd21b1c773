package instancecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhichInstanceManagerOfANodeTakesANewInstance(t *testing.T) {
	const wanted, older = "wanted", "older"
	im := func(name, image, state string) *v1beta2.InstanceManager {
		out := &v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{Image: image},
			Status: v1beta2.InstanceManagerStatus{CurrentState: state}}
		out.Name = name
		return out
	}
	pod := func(im *v1beta2.InstanceManager, reason string) *v1beta2.InstanceManager {
		im.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.InstanceManagerPodReady, Status: v1beta2.ConditionFalse, Reason: reason}}
		return im
	}
	const up, starting = v1beta2.InstanceManagerStateRunning, v1beta2.InstanceManagerStateStarting
	for name, c := range map[string]struct {
		image string
		of    []*v1beta2.InstanceManager
		want  string
		text  string
	}{
		"v1: the default image's": {wanted, []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, up)}, "b", ""},
		"v1: one that runs, while the default image's cannot": {wanted, []*v1beta2.InstanceManager{im("a", older, up),
			pod(im("b", wanted, starting), v1beta2.ReasonPodCannotStart)}, "a", ""},
		"v1: one that runs, while the default image's has no pod": {wanted, []*v1beta2.InstanceManager{im("a", older, up),
			pod(im("b", wanted, v1beta2.InstanceManagerStateError), v1beta2.ReasonPodMissing)}, "a", ""},
		"v1: the default image's is waited for while processes may run in it": {wanted, []*v1beta2.InstanceManager{im("a", older, up),
			pod(im("b", wanted, starting), v1beta2.ReasonPodStarting)}, "b", ""},
		"v1: also while nothing is known of its pod": {wanted,
			[]*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, v1beta2.InstanceManagerStateUnknown)}, "b", ""},
		"v1: one that runs, while the default image has none": {wanted,
			[]*v1beta2.InstanceManager{im("c", older, up), im("a", "oldest", up)}, "a", ""},
		"v1: the default image's is waited for where none runs": {wanted,
			[]*v1beta2.InstanceManager{im("a", older, starting), im("b", wanted, starting)}, "b", ""},
		"v1: without a default image the only one": {"", []*v1beta2.InstanceManager{im("a", older, starting)}, "a", ""},
		"v2: the only one":                         {"", []*v1beta2.InstanceManager{im("a", older, starting)}, "a", ""},
		"v2: the one that runs": {"", []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, starting)}, "a",
			""},
		"v2: two that run are one too many": {"", []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, up)}, "", "two"},
		"none":                              {wanted, nil, "", "no %s instance manager that runs"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := choose(c.of, c.image)
			if c.want == "" {
				require.Nil(t, got)
				require.Contains(t, problem, c.text)
				return
			}
			require.Equal(t, c.want, got.Name)
			require.Empty(t, problem)
		})
	}
}

// The start of a container is by the clock of its node; the connection is by that of this process.
func TestAClockOfANodeThatIsAheadDelaysNoStart(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	connected := now.Add(-time.Minute)
	for name, c := range map[string]struct{ started, want time.Time }{
		"its clock is right":           {now.Add(-time.Hour), now.Add(-time.Hour)},
		"its clock is ahead":           {now.Add(time.Hour), connected},
		"when it started is not known": {time.Time{}, time.Time{}},
	} {
		list := &inventory.Snapshot{Epoch: inventory.Epoch{ContainerStarted: c.started}, EpochSince: connected}
		since := startedBefore(list)
		require.Equal(t, c.want, since, name)
		v := instance.Decide(instance.World{Now: now, Node: instance.Node{Name: "node-1"}, DiskName: "disk",
			Object: instance.Object{Kind: v1beta2.InstanceTypeReplica, Name: "vol-r-1", Volume: "vol", NodeID: "node-1", DataEngine: "v2",
				Running: true, Size: 1 << 30, Replica: instance.ReplicaSpec{DiskID: "d"}},
			Here:     &instance.Place{InstanceManager: "im-1", Node: "node-1", Running: true, Known: true, Since: since},
			Settings: instance.Settings{Rediscovery: 5 * time.Second}})
		require.NotEqual(t, instance.ReasonRediscovering, v.Reason, name)
	}
}
