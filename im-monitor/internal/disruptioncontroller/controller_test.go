package disruptioncontroller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
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
	watched  = time.Second
)

// world is two nodes with a running instance manager each, and a volume with a whole replica on both.
type world struct {
	t         *testing.T
	admin     client.WithWatch
	namespace string
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, admin: testkit.Admin(t), namespace: testkit.Namespace(t)}
	for _, node := range []string{"drain-1", "drain-2"} {
		w.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
		labels := instancemanager.Labels(node, "im:1", v1beta2.DataEngineV1)
		labels["velero.io/restore-name"] = "not-on-the-pod"
		w.create(&v1beta2.InstanceManager{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "im-" + node, Labels: labels},
			Spec:       v1beta2.InstanceManagerSpec{NodeID: node, DataEngine: v1beta2.DataEngineV1}})
		w.manager(node, map[string]any{"currentState": v1beta2.InstanceManagerStateRunning})
		r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "vol-r-" + node}}
		r.Spec.NodeID, r.Spec.VolumeName, r.Spec.DataEngine, r.Spec.HealthyAt = node, "vol", v1beta2.DataEngineV1, "2026-08-01T00:00:00Z"
		r.Spec.DesireState = v1beta2.InstanceStateRunning
		w.create(r)
	}
	p := shell.Start(t, shell.Options{Identity: testkit.BinaryIdentity(t, w.namespace, "im-monitor"), Namespace: w.namespace,
		Owner: "im-monitor"},
		func(ctx context.Context, rt *runkit.Runtime) error {
			return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Defaults().Pods))
		})
	t.Cleanup(func() {
		p.Stop()
		require.NoError(t, p.Wait())
	})
	return w
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), o))
	w.t.Cleanup(func() { require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(context.Background(), o))) })
}

func (w *world) manager(node string, fields map[string]any) {
	w.t.Helper()
	o := &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "im-" + node}}
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, o, fields))
}

func (w *world) cordon(node string, cordoned bool) {
	w.t.Helper()
	n := &corev1.Node{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Name: node}, n))
	n.Spec.Unschedulable = cordoned
	require.NoError(w.t, w.admin.Update(w.t.Context(), n))
}

func (w *world) budget(node string) *policyv1.PodDisruptionBudget {
	w.t.Helper()
	b := &policyv1.PodDisruptionBudget{}
	// a last read may outlive the test
	err := w.admin.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: "im-" + node}, b)
	require.NoError(w.t, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return b
}

// protects waits until the node's budget contains the words.
func (w *world) protects(node, words string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		b := w.budget(node)
		return b != nil && strings.Contains(b.Annotations[Protects], words)
	}, patience, poll, "%s: %v", node, w.budget(node))
}

// has waits until the node's instance manager has a budget that reports it much, or none where reports is empty.
func (w *world) has(node, says string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		b := w.budget(node)
		return says == "" && b == nil || says != "" && b != nil && b.Annotations[Protects] == says
	}, patience, poll, "%s: %v", node, w.budget(node))
}

func TestABudgetIsMadeExplainedGivenUpAndMadeAgain(t *testing.T) {
	w := start(t)
	w.has("drain-1", "Node drain-1 takes pods.")
	w.has("drain-2", "Node drain-2 takes pods.")
	b := w.budget("drain-1")
	require.Equal(t, instancemanager.Labels("drain-1", "im:1", v1beta2.DataEngineV1), b.Spec.Selector.MatchLabels)
	require.Equal(t, "1", b.Spec.MinAvailable.String())

	w.manager("drain-1", map[string]any{"instanceEngines": map[string]any{"vol-e-0": v1beta2.InstanceProcess{}}})
	w.cordon("drain-1", true)
	w.has("drain-1", "Engine vol-e-0 runs on node drain-1.")
	frontend := &v1beta2.EngineFrontend{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "vol-ef-0"}}
	frontend.Spec.NodeID = "drain-1"
	w.create(frontend)
	state := func(s string) {
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, frontend, map[string]any{"currentState": s}))
	}
	state(v1beta2.InstanceStateStarting)
	w.manager("drain-1", map[string]any{"instanceEngines": nil})
	w.has("drain-1", "EngineFrontend vol-ef-0 runs on node drain-1.") // which no list has
	state(v1beta2.InstanceStateStopped)
	w.has("drain-1", "")
	w.cordon("drain-1", false)
	w.has("drain-1", "Node drain-1 takes pods.")

	// What somebody else made or changed is put right.
	b = w.budget("drain-1")
	b.Spec.MinAvailable, b.Annotations = nil, nil
	require.NoError(t, w.admin.Update(t.Context(), b))
	w.has("drain-1", "Node drain-1 takes pods.")
	require.Equal(t, "1", w.budget("drain-1").Spec.MinAvailable.String())
}

// Where each of two nodes may go, only one does: the other one's replica is the last that is protected.
func TestOfTwoNodesOnlyOneIsGivenUp(t *testing.T) {
	w := start(t)
	w.has("drain-1", "Node drain-1 takes pods.")
	w.has("drain-2", "Node drain-2 takes pods.")
	w.create(&v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: setting.ClusterAutoscaler}, Value: "true"})
	require.Eventually(t, func() bool { return w.budget("drain-1") == nil || w.budget("drain-2") == nil }, patience, poll)
	require.Never(t, func() bool { return w.budget("drain-1") == nil && w.budget("drain-2") == nil }, watched, poll)
}

// Tools cordon all nodes before they drain the first: the nodes do not wait for each other.
func TestOfTwoCordonedNodesOneIsEmptiedAfterTheOther(t *testing.T) {
	w := start(t)
	engines := func(node string, engines map[string]any) {
		w.manager(node, map[string]any{"instanceEngines": engines})
	}
	for _, node := range []string{"drain-2", "drain-1"} {
		engine := "vol-e-" + node
		engines(node, map[string]any{engine: v1beta2.InstanceProcess{}})
		w.cordon(node, true)
		w.has(node, "Engine "+engine+" runs on node "+node+".")
	}
	engines("drain-2", nil)
	w.protects("drain-2", "replica vol-r-drain-1 is on node drain-1, which is cordoned as well and is emptied first")
	engines("drain-1", nil)
	w.has("drain-1", "")
	w.protects("drain-2", "is emptied first")
	w.cordon("drain-1", false)
	w.has("drain-1", "Node drain-1 takes pods.")
	w.has("drain-2", "")
}

// What comes and goes on nodes that take pods changes no budget, so that no node is reconciled for it; on one that is being emptied it is.
func TestWhatANodeHasCountsOnceItIsEmptied(t *testing.T) {
	w := start(t)
	w.has("drain-1", "Node drain-1 takes pods.")
	w.has("drain-2", "Node drain-2 takes pods.")
	before := -1
	require.Eventually(t, func() bool {
		last := before
		before = testkit.Reconciles(t, "disruption")
		return before == last
	}, patience, watched, "it never rests")
	engine := &v1beta2.Engine{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "vol-e-0"}}
	engine.Spec.NodeID, engine.Spec.VolumeName = "drain-1", "vol"
	w.create(engine)
	state := func(s string) {
		require.NoError(t, status.MergeStatus(t.Context(), w.admin, engine, map[string]any{"currentState": s}))
	}
	state(v1beta2.InstanceStateRunning)
	replica := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "vol-r-drain-2"}}
	failed := func(at string) {
		require.NoError(t, status.MergeSpec(t.Context(), w.admin, replica, map[string]any{"failedAt": at}))
	}
	failed("2026-08-02T00:00:00Z")
	w.manager("drain-1", map[string]any{"instanceEngines": map[string]any{"vol-e-0": v1beta2.InstanceProcess{}}})
	require.Never(t, func() bool { return testkit.Reconciles(t, "disruption") != before }, watched, poll)

	w.cordon("drain-1", true)
	w.has("drain-1", "Engine vol-e-0 runs on node drain-1.")
	state(v1beta2.InstanceStateStopped)
	w.manager("drain-1", map[string]any{"instanceEngines": nil})
	w.protects("drain-1", "Replica vol-r-drain-1 on node drain-1 may be the last one")
	failed("")
	w.has("drain-1", "")
}
