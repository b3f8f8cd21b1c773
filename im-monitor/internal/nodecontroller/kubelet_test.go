package nodecontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

const patience = 30 * time.Second

// A kubelet's restart changes no condition of its Node, so that nobody takes anything from it; a kubelet that stays not ready does, without
// another event.
func TestARestartOfAKubeletIsNoOutageAndALongOneIs(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	k := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "kubelet-1"}}
	require.NoError(t, admin.Create(t.Context(), k))
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(admin.Delete(context.Background(), k))) })
	m := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "im-1"},
		Spec: v1beta2.InstanceManagerSpec{NodeID: k.Name, DataEngine: v1beta2.DataEngineV1}}
	require.NoError(t, admin.Create(t.Context(), m))
	require.NoError(t, status.MergeStatus(t.Context(), admin, m, map[string]any{"currentState": v1beta2.InstanceManagerStateRunning}))
	kubelet := func(ready corev1.ConditionStatus, since time.Time) {
		t.Helper()
		require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(k), k))
		k.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Test",
			LastTransitionTime: metav1.NewTime(since)}}
		require.NoError(t, admin.Status().Update(t.Context(), k))
	}
	kubelet(corev1.ConditionTrue, time.Now())
	p := shell.Start(t, shell.Options{Identity: testkit.BinaryIdentity(t, namespace, "im-monitor"), Namespace: namespace, Owner: "im-monitor"},
		func(ctx context.Context, rt *runkit.Runtime) error {
			return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Defaults().Pods))
		})
	t.Cleanup(func() {
		p.Stop()
		require.NoError(t, p.Wait())
	})
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: k.Name}}
	reason := func() string {
		// a last read may outlive the test
		require.NoError(t, client.IgnoreNotFound(admin.Get(context.Background(), client.ObjectKeyFromObject(n), n)))
		return conditions.Reason(n.Status.Conditions, v1beta2.NodeReady)
	}
	before := ""
	require.Eventually(t, func() bool {
		before = reason()
		return before != "" && before != v1beta2.ReasonKubernetesNodeNotReady
	}, patience, testkit.Poll)

	kubelet(corev1.ConditionFalse, time.Now())
	require.Never(t, func() bool { return reason() != before }, 2*time.Second, testkit.Poll)
	kubelet(corev1.ConditionFalse, time.Now().Add(2*time.Second-v1beta2.KubeletPause))
	require.Never(t, func() bool { return v1beta2.IsNodeDown(n) }, 500*time.Millisecond, testkit.Poll)
	require.Eventually(t, func() bool { return reason() == v1beta2.ReasonKubernetesNodeNotReady }, patience, testkit.Poll)
	require.True(t, v1beta2.IsNodeDown(n))
	kubelet(corev1.ConditionTrue, time.Now())
	require.Eventually(t, func() bool { return reason() == before }, patience, testkit.Poll)
}
