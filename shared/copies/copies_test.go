package copies

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestACopyIsWholeAndStays(t *testing.T) {
	going := &metav1.Time{Time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	for name, c := range map[string]struct {
		change func(*v1beta2.Replica, *v1beta2.Node)
		whole  bool
	}{
		"as it should be":     {func(*v1beta2.Replica, *v1beta2.Node) {}, true},
		"never healthy":       {func(r *v1beta2.Replica, _ *v1beta2.Node) { r.Spec.HealthyAt = "" }, false},
		"failed since":        {func(r *v1beta2.Replica, _ *v1beta2.Node) { r.Spec.FailedAt = "2026-08-01T12:00:00Z" }, false},
		"being deleted":       {func(r *v1beta2.Replica, _ *v1beta2.Node) { r.DeletionTimestamp = going }, false},
		"on a node that goes": {func(_ *v1beta2.Replica, n *v1beta2.Node) { n.DeletionTimestamp = going }, false},
		"on a node that is away": {func(_ *v1beta2.Replica, n *v1beta2.Node) { n.Status.Conditions[0].Status = v1beta2.ConditionFalse },
			false},
		"on a node without conditions": {func(_ *v1beta2.Replica, n *v1beta2.Node) { n.Status.Conditions = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, n := &v1beta2.Replica{}, &v1beta2.Node{}
			r.Spec.HealthyAt = "2026-08-01T11:00:00Z"
			n.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue}}
			c.change(r, n)
			require.Equal(t, c.whole, Whole(r, n))
			require.False(t, Whole(r, nil), "a node that does not exist")
		})
	}
}

func TestACopyIsInUseOnlyInARunningEngineThatReadsIt(t *testing.T) {
	engine := func(state, mode string) v1beta2.Engine {
		return v1beta2.Engine{Status: v1beta2.EngineStatus{CurrentState: state, ReplicaModeMap: map[string]string{"r": mode}}}
	}
	require.False(t, InUse("r", nil))
	require.False(t, InUse("r", []v1beta2.Engine{engine(v1beta2.InstanceStateStopped, v1beta2.ReplicaModeRW)}))
	require.False(t, InUse("r", []v1beta2.Engine{engine(v1beta2.InstanceStateRunning, v1beta2.ReplicaModeWO)}))
	require.False(t, InUse("other", []v1beta2.Engine{engine(v1beta2.InstanceStateRunning, v1beta2.ReplicaModeRW)}))
	require.True(t, InUse("r", []v1beta2.Engine{engine(v1beta2.InstanceStateStopped, ""),
		engine(v1beta2.InstanceStateRunning, v1beta2.ReplicaModeRW)}))
}
