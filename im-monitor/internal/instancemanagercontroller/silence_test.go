package instancemanagercontroller

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// silent is an inventory that cannot read anything.
type silent struct{ inventory.Store }

func (silent) Err(string) error { return errors.New("connection refused") }

// A pod whose image takes minutes to pull has not been silent for minutes in the moment in which it is ready.
func TestSilenceBeginsWhenThePodIsReady(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	options := instancemanager.DefaultOptions()
	s := &reconciler{store: silent{}, options: options}
	w := instancemanager.World{Options: options, Kubernetes: &node.Kubernetes{Ready: true}, Node: &v1beta2.Node{}, Pod: &corev1.Pod{},
		InstanceManager: &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: "im"}}}
	reachable := func(after time.Duration) *v1beta2.Condition {
		w.Now = now.Add(after)
		w.Inventory = s.inventoryOf(w, nil, false)
		return conditions.Get(instancemanager.Decide(w).Status.Conditions, v1beta2.InstanceManagerReachable)
	}
	w.Pod.Status.Phase = corev1.PodPending
	require.Nil(t, reachable(0))
	require.Nil(t, reachable(5*time.Minute))

	w.Pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1",
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	require.Nil(t, reachable(5*time.Minute+time.Second))
	require.Nil(t, reachable(5*time.Minute+options.UnreachableAfter))
	c := reachable(5*time.Minute + time.Second + options.UnreachableAfter)
	require.NotNil(t, c)
	require.Equal(t, v1beta2.ConditionFalse, c.Status)
	require.Contains(t, c.Message, "connection refused")
}
