package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
)

// world is a namespace of a real API server with orphan-controller in it, as its own ServiceAccount with its generated
// roles. The test acts as im-monitor.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	limits    orphan.Limits
	// hides are the objects that the controller's cache does not show yet.
	hides func(client.Object) bool

	run shell.Slot
}

// process is one run of the controller.
type process struct {
	*shell.Process
	registry *prometheus.Registry
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), limits: orphan.DefaultLimits()}
	w.limits.EvaluationWait = time.Second
	w.identity = testkit.BinaryIdentity(t, w.namespace, Owner)
	w.create(&v1beta2.Node{ObjectMeta: w.meta("node-1")})
	w.nodeReady("node-1")
	w.instanceManager("im-1", 0)
	t.Cleanup(w.stop)
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// start runs the controller until it is stopped.
func (w *world) start() *process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *process {
	w.t.Helper()
	p := &process{registry: prometheus.NewRegistry()}
	p.Process = shell.Start(w.t, shell.Options{
		Identity: w.identity, Namespace: w.namespace, Owner: Owner, Cache: Cached(), At: at, OnCut: onCut,
		Wrap: func(c client.Client) client.Client { return hider{c, w.hides} },
	}, func(ctx context.Context, rt *runkit.Runtime) error { return Setup(ctx, rt, w.limits, p.registry) })
	w.run.Hold(p.Process)
	return p
}

func (w *world) stop() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

// setStatus writes status fields as im-monitor does.
func (w *world) setStatus(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, obj, "im-monitor", fields))
}

func (w *world) nodeCondition(name string, s v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	w.setStatus(&v1beta2.Node{ObjectMeta: w.meta(name)}, map[string]any{"conditions": status.ConditionsField([]v1beta2.Condition{
		{Type: v1beta2.NodeReady, Status: s, Reason: reason},
	})})
}

func (w *world) nodeReady(name string) {
	w.t.Helper()
	w.nodeCondition(name, v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
}

func (w *world) instanceManager(name string, instances int) {
	w.t.Helper()
	im := &v1beta2.InstanceManager{ObjectMeta: w.meta(name),
		Spec: v1beta2.InstanceManagerSpec{NodeID: "node-1", DataEngine: "v2", Type: "aio"}}
	w.create(im)
	engines := map[string]any{}
	for i := range instances {
		engines[v1beta2.LabelValue(strings.Repeat("x", i+1))] = map[string]any{}
	}
	w.setStatus(im, map[string]any{"currentState": "running", "instanceEngines": engines})
}

func (w *world) setting(name, value string) {
	w.t.Helper()
	s := &v1beta2.Setting{ObjectMeta: w.meta(name), Value: value}
	err := w.admin.Create(w.t.Context(), s)
	if apierrors.IsAlreadyExists(err) {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"value":`+quote(value)+`}`))
		err = w.admin.Patch(w.t.Context(), s, patch)
	}
	require.NoError(w.t, err)
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func (w *world) autoDeletion(value string, grace string) {
	w.t.Helper()
	w.setting(setting.GracePeriod, grace)
	w.setting(setting.AutoDeletion, value)
}

// orphan creates an orphan as im-monitor does, with the result of the rule; "" leaves it without evaluation.
func (w *world) orphan(instance, rule string) *v1beta2.Orphan {
	w.t.Helper()
	orphanType := v1beta2.OrphanTypeEngineInstance
	if v1beta2.VolumeOfReplicaName(instance) != "" {
		orphanType = v1beta2.OrphanTypeReplicaInstance
	}
	o := &v1beta2.Orphan{ObjectMeta: w.meta(v1beta2.OrphanName(instance, "uuid-1", "im-1", "v2"))}
	o.Finalizers = []string{v1beta2.Finalizer}
	o.Spec = v1beta2.OrphanSpec{DataEngine: "v2", NodeID: "node-1", OrphanType: orphanType, Parameters: map[string]string{
		v1beta2.OrphanParameterInstanceName: instance, v1beta2.OrphanParameterInstanceUUID: "uuid-1",
		v1beta2.OrphanParameterInstanceManager: "im-1",
	}}
	w.create(o)
	if rule != "" {
		w.report(o, present(rule)...)
	}
	w.givenUp(instance, map[string]any{"uuid": "uuid-1", "dataEngine": "v2"})
	return o
}

// givenUp writes attach-controller's record of an instance on node-1; nil removes it.
func (w *world) givenUp(instance string, record map[string]any) {
	w.t.Helper()
	entries := map[string]any{instance: nil}
	if record != nil {
		entries[instance] = record
	}
	err := status.MergeStatus(w.t.Context(), w.admin, &v1beta2.Node{ObjectMeta: w.meta("node-1")},
		map[string]any{"abandonedInstances": entries})
	require.NoError(w.t, client.IgnoreNotFound(err))
}

// present are im-monitor's conditions of an instance that is there.
func present(rule string, more ...v1beta2.Condition) []v1beta2.Condition {
	return append([]v1beta2.Condition{
		{Type: v1beta2.OrphanOrphaned, Status: v1beta2.ConditionTrue, Reason: rule, Message: "Evaluated by the test."},
		{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionTrue, Reason: v1beta2.InstanceStateRunning, Message: "There."},
	}, more...)
}

func withdrawnAs(reason string) v1beta2.Condition {
	return v1beta2.Condition{Type: v1beta2.OrphanWithdrawn, Status: v1beta2.ConditionTrue, Reason: reason, Message: "Taken back."}
}

// report writes im-monitor's full set of conditions.
func (w *world) report(o *v1beta2.Orphan, list ...v1beta2.Condition) {
	w.t.Helper()
	w.setStatus(o, map[string]any{"conditions": status.ConditionsField(list)})
}

// executed is im-monitor's evidence that the instance's end is proven.
func (w *world) executed(o *v1beta2.Orphan) {
	w.t.Helper()
	w.report(o, v1beta2.Condition{Type: v1beta2.OrphanInstanceState, Status: v1beta2.ConditionFalse,
		Reason:  v1beta2.InstanceStateTerminated,
		Message: "Absent."})
}

func (w *world) personDeletes(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), obj))
}

// now reads the orphan; nil: it is gone.
func (w *world) now(o *v1beta2.Orphan) *v1beta2.Orphan {
	w.t.Helper()
	found := &v1beta2.Orphan{}
	err := w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(o), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return found
}

// finalizers sets the orphan's finalizers.
func (w *world) finalizers(o *v1beta2.Orphan, names ...string) {
	w.t.Helper()
	found := w.now(o)
	changed := found.DeepCopy()
	changed.Finalizers = names
	require.NoError(w.t, w.admin.Patch(w.t.Context(), changed, client.MergeFrom(found)))
}

func (w *world) until(message string, condition func() bool) {
	w.t.Helper()
	require.Eventually(w.t, condition, patience, poll, message)
}

// reaches waits until CleanupApproved has this status and reason, and the deletion is under way or not.
func (w *world) reaches(o *v1beta2.Orphan, reason string, deleting bool) *v1beta2.Orphan {
	w.t.Helper()
	var found *v1beta2.Orphan
	w.until("never "+reason, func() bool {
		found = w.now(o)
		return found != nil && approval(found) == reason && (found.DeletionTimestamp != nil) == deleting
	})
	return found
}

func (w *world) gone(o *v1beta2.Orphan) {
	w.t.Helper()
	w.until("the orphan was not removed", func() bool { return w.now(o) == nil })
}

func approval(o *v1beta2.Orphan) string {
	return conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved)
}

// stays checks that the controller does not write for a while.
func (w *world) stays(o *v1beta2.Orphan, why string) {
	w.t.Helper()
	before := w.now(o)
	require.NotNil(w.t, before)
	key := client.ObjectKeyFromObject(o)
	// The last check may still be under way when Never returns, and even when the test has ended: it must not fail the test.
	require.Never(w.t, func() bool {
		found := &v1beta2.Orphan{}
		err := w.admin.Get(context.Background(), key, found)
		return apierrors.IsNotFound(err) || err == nil && found.ResourceVersion != before.ResourceVersion
	}, 400*time.Millisecond, 50*time.Millisecond, why)
}

// hider is a cache that does not show some objects yet.
type hider struct {
	client.Client
	hides func(client.Object) bool
}

// Get implements client.Reader.
func (h hider) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if h.hides != nil && h.hides(obj) {
		return apierrors.NewNotFound(v1beta2.GroupVersion.WithResource("hidden").GroupResource(), key.Name)
	}
	return h.Client.Get(ctx, key, obj, opts...)
}
