package abandonedcontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 30 * time.Second
	poll     = testkit.Poll
	watched  = 2 * time.Second
)

// A record stays as long as its instance may exist, and is removed with it; no other writer's status is touched.
func TestARecordGoesOnceItsInstanceIsGone(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	node := &v1beta2.Node{ObjectMeta: meta("node-1")}
	manager := &v1beta2.InstanceManager{ObjectMeta: meta("im-1"),
		Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV1}}
	require.NoError(t, admin.Create(t.Context(), node))
	require.NoError(t, admin.Create(t.Context(), manager))
	lists := func(reachable v1beta2.ConditionStatus, engines map[string]any) {
		require.NoError(t, status.MergeStatus(t.Context(), admin, manager, map[string]any{
			"currentState": v1beta2.InstanceManagerStateRunning, "instanceEngines": engines,
			"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.InstanceManagerReachable, Status: reachable}}),
		}))
	}
	lists(v1beta2.ConditionTrue, map[string]any{
		"a-e-0": v1beta2.InstanceProcess{Status: v1beta2.InstanceProcessStatus{UUID: "a"}},
		"b-e-0": v1beta2.InstanceProcess{Status: v1beta2.InstanceProcessStatus{UUID: "b"}},
	})
	ready := status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonNodeReady}})
	require.NoError(t, status.MergeStatus(t.Context(), admin, node, map[string]any{"conditions": ready, "zone": "zone-1"}))

	identity := testkit.BinaryIdentity(t, namespace, "attach-controller")
	for _, uuid := range []string{"a", "b"} {
		record := abandoned.Record{Node: "node-1", Name: uuid + "-e-0",
			Instance: v1beta2.AbandonedInstance{UUID: uuid, DataEngine: v1beta2.DataEngineV1}}
		require.NoError(t, Write(t.Context(), admin, namespace, record))
	}
	p := shell.Start(t, shell.Options{Identity: identity, Namespace: namespace, Owner: "attach-controller"}, Setup)
	defer func() {
		p.Stop()
		require.NoError(t, p.Wait())
	}()
	names := func() (out []string) {
		now := &v1beta2.Node{}
		require.NoError(t, admin.Get(context.Background(), client.ObjectKeyFromObject(node), now))
		require.Equal(t, "zone-1", now.Status.Zone)
		for name := range now.Status.AbandonedInstances {
			out = append(out, name)
		}
		return out
	}
	require.Len(t, names(), 2)
	lists(v1beta2.ConditionFalse, map[string]any{"a-e-0": nil})
	require.Never(t, func() bool { return len(names()) != 2 }, watched, poll, "a silent instance manager proves nothing")
	lists(v1beta2.ConditionTrue, map[string]any{})
	require.Eventually(t, func() bool { return len(names()) == 1 }, patience, poll)
	require.Equal(t, []string{"b-e-0"}, names())
}

// The read may be stale: a record that is for another instance by now is not removed.
func TestARecordOfAnotherInstanceStays(t *testing.T) {
	namespace, admin := testkit.Namespace(t), testkit.Admin(t)
	node := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "node-1"}}
	require.NoError(t, admin.Create(t.Context(), node))
	read := node.DeepCopy()
	read.Status.AbandonedInstances = map[string]v1beta2.AbandonedInstance{"a-e-0": {UUID: "before", DataEngine: v1beta2.DataEngineV1}}
	now := abandoned.Record{Node: "node-1", Name: "a-e-0",
		Instance: v1beta2.AbandonedInstance{UUID: "now", DataEngine: v1beta2.DataEngineV1}}
	require.NoError(t, Write(t.Context(), admin, namespace, now))
	require.Error(t, remove(t.Context(), admin, read, []string{"a-e-0"}))
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(node), node))
	require.Equal(t, "now", node.Status.AbandonedInstances["a-e-0"].UUID)
	require.NoError(t, remove(t.Context(), admin, node, []string{"a-e-0"}))
	require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(node), node))
	require.Empty(t, node.Status.AbandonedInstances)
}
