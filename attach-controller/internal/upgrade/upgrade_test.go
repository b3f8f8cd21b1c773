package upgrade

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
)

func newUpgrade(state string, volumes map[string]v1beta2.VolumeUpgradeStatus) *v1beta2.NodeDataEngineUpgrade {
	return &v1beta2.NodeDataEngineUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "u"}, Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "x"},
		Status: v1beta2.NodeDataEngineUpgradeStatus{State: state, Volumes: volumes}}
}

// woken are the volumes that an update enqueues.
func woken(before, after *v1beta2.NodeDataEngineUpgrade) []string {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	handler := Enqueue("ns", func(_ context.Context, node string) []string { return []string{"on " + node} })
	handler.Update(context.Background(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
	var out []string
	for q.Len() > 0 {
		one, _ := q.Get()
		out = append(out, one.Name)
	}
	slices.Sort(out)
	return out
}

func TestAChangeEnqueuesTheVolumesThatItConcerns(t *testing.T) {
	moving := v1beta2.UpgradeStateSwitchingOver
	two := map[string]v1beta2.VolumeUpgradeStatus{"a": {Replica: "a-r"}, "b": {}}
	three := map[string]v1beta2.VolumeUpgradeStatus{"a": {Replica: "a-r", Message: "moving"}, "b": {Replica: "b-r"}, "c": {}}
	require.Equal(t, []string{"b", "c"}, woken(newUpgrade(moving, two), newUpgrade(moving, three)),
		"a message concerns no volume")
	require.Equal(t, []string{"b", "c"}, woken(newUpgrade(moving, three), newUpgrade(moving, two)))
	require.Empty(t, woken(newUpgrade(moving, two), newUpgrade(moving, two)))
	require.Equal(t, []string{"a", "b", "on x"}, woken(newUpgrade(moving, two), newUpgrade(v1beta2.UpgradeStateDetachingReplicas, two)))
}

func TestAnUpgradeIsActiveFromItsFirstStepToItsLast(t *testing.T) {
	for _, state := range []string{"", v1beta2.UpgradeStateUndefined, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError} {
		require.False(t, Active(state), state)
	}
	for _, state := range []string{v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack} {
		require.True(t, Active(state), state)
	}
}
