package orphancontroller_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"k8s.io/utils/ptr"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/im-monitor/internal/orphancontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	patience = 60 * time.Second
	tick     = testkit.Poll

	imV1, imV2, imOther = "im-v1", "im-v2", "im-other"
	uuid1, uuid2        = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000"
	disk                = "99999999-0000-0000-0000-000000000001"
)

// world is one test's namespace with two nodes, three instance managers, a scripted inventory and the controllers.
type world struct {
	t         *testing.T
	admin     client.WithWatch
	namespace string
	store     *store
	stop      context.CancelFunc
	stopped   chan struct{}
	recorder  *recorder
	// wrap changes the client that the controllers write with.
	wrap func(client.Client) client.Client
	// fencingDelay and electedAt are what the next start uses.
	fencingDelay time.Duration
	// clock is that of the controllers, and of what the inventory reports.
	clock clock.Clock
	// observe forbids the executor every effect.
	observe bool
}

func newWorld(t *testing.T) *world { return newWorldAt(t, clock.RealClock{}) }

// shifted is a clock that differs from the API server's.
type shifted struct {
	clock.RealClock
	by time.Duration
}

func (s shifted) Now() time.Time                   { return s.RealClock.Now().Add(s.by) }
func (s shifted) Since(at time.Time) time.Duration { return s.Now().Sub(at) }

func newWorldAt(t *testing.T, clock clock.Clock) *world {
	w := &world{t: t, admin: testkit.Admin(t), namespace: testkit.Namespace(t), store: newStore(clock), recorder: &recorder{}, clock: clock}
	w.node("node-1", "", metav1.ConditionTrue)
	w.node("node-2", "", metav1.ConditionTrue)
	for name, at := range map[string][2]string{imV1: {"node-1", "v1"}, imV2: {"node-1", "v2"}, imOther: {"node-2", "v2"}} {
		w.create(&v1beta2.InstanceManager{ObjectMeta: w.meta(name), Spec: v1beta2.InstanceManagerSpec{NodeID: at[0], DataEngine: at[1]}})
		w.store.manager(name, at[0])
	}
	return w
}

// start runs the controllers as im-monitor's own identity until the test ends or stop is called.
func (w *world) start() {
	w.t.Helper()
	access := testkit.BinaryIdentity(w.t, w.namespace, "im-monitor")
	access.QPS = -1
	ctrl.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(access, ctrl.Options{
		Scheme: testkit.Scheme(w.t), Metrics: server.Options{BindAddress: "0"}, LeaderElection: false,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{w.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(w.t, err)
	elected := w.clock.Now()
	writer := manager.GetClient()
	if w.wrap != nil {
		writer = w.wrap(writer)
	}
	rt := &runkit.Runtime{
		Manager: manager, Client: writer, Uncached: manager.GetAPIReader(), Recorder: w.recorder, Namespace: w.namespace,
		Clock: w.clock, Log: logr.Discard(), RenewDeadline: 10 * time.Second, ElectedAt: func() time.Time { return elected },
		Observe: w.observe,
	}
	options := orphancontroller.Options{PostElectionDelay: w.fencingDelay,
		Rules: orphan.Rules{AbsenceGap: absenceGap, V2Settle: time.Second}}
	require.NoError(w.t, orphancontroller.Setup(rt, w.store, options))
	ctx, cancel := context.WithCancel(context.Background())
	w.stopped = make(chan struct{})
	stopped := w.stopped
	w.stop = func() {
		cancel()
		<-stopped
		w.store.mu.Lock()
		w.store.subscribers = nil
		w.store.mu.Unlock()
	}
	go func() {
		defer close(stopped)
		_ = manager.Start(ctx)
	}()
	w.t.Cleanup(func() { w.stop() })
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), o))
}

func (w *world) setStatus(o client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, o, fields))
}

func (w *world) node(name, reason string, ready metav1.ConditionStatus) {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta(name)}
	if err := w.admin.Create(w.t.Context(), n); err != nil {
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(n), n))
	}
	w.setStatus(n, map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": string(ready), "reason": reason}}})
}

// replica makes a Replica whose status is as given.
func (w *world) replica(name string, spec v1beta2.ReplicaSpec, state map[string]any) *v1beta2.Replica {
	w.t.Helper()
	r := &v1beta2.Replica{ObjectMeta: w.meta(name), Spec: spec}
	r.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(spec.VolumeName)}
	w.create(r)
	w.setStatus(r, state)
	return r
}

func runningOn(im, node string) map[string]any {
	return map[string]any{"currentState": "running", "ownerID": node, "instanceManagerName": im}
}

func instance(name, kind, state, uuid string) inventory.Instance {
	i := inventory.Instance{Name: name, Type: kind, State: state, UUID: uuid, DataEngine: "v2"}
	if uuid != "" {
		i.UUIDSource = "InstanceStatus"
	}
	return i
}

// orphanOf waits for the Orphan of an instance, as soon as it was evaluated.
func (w *world) orphanOf(im, name, uuid, engine string) *v1beta2.Orphan {
	w.t.Helper()
	o := &v1beta2.Orphan{ObjectMeta: w.meta(v1beta2.OrphanName(name, uuid, im, engine))}
	w.until(func() bool {
		return w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(o), o) == nil &&
			conditions.IsTrue(o.Status.Conditions, v1beta2.OrphanOrphaned)
	}, "no evaluated orphan of %s", name)
	return o
}

func (w *world) until(condition func() bool, message string, args ...any) {
	w.t.Helper()
	require.Eventuallyf(w.t, condition, patience, tick, message, args...)
}

// reports waits until the orphan has the condition with that status and reason.
func (w *world) reports(o *v1beta2.Orphan, conditionType string, want v1beta2.ConditionStatus, reason string) *v1beta2.Orphan {
	w.t.Helper()
	now := &v1beta2.Orphan{}
	w.until(func() bool {
		if w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(o), now) != nil {
			return false
		}
		c := conditions.Get(now.Status.Conditions, conditionType)
		return c != nil && c.Status == want && c.Reason == reason
	}, "orphan %s never reported %s=%s/%s; last %+v", o.Name, conditionType, want, reason, now)
	return now
}

// approve plays the orphan-controller for a person's deletion.
func (w *world) approve(o *v1beta2.Orphan, extra ...v1beta2.Condition) {
	w.t.Helper()
	list := append(extra, v1beta2.Condition{Type: v1beta2.OrphanCleanupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonApproved, Message: "Go."})
	require.NoError(w.t, w.admin.Delete(w.t.Context(), o))
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, o, "orphan-controller",
		map[string]any{"conditions": status.ConditionsField(list)}))
}

// orphans are those of the namespace. A condition of require.Never may still read them when its test has ended.
func (w *world) orphans() []v1beta2.Orphan {
	w.t.Helper()
	var list v1beta2.OrphanList
	require.NoError(w.t, w.admin.List(context.WithoutCancel(w.t.Context()), &list, client.InNamespace(w.namespace)))
	return list.Items
}

// recorder collects the reasons of events.
type recorder struct{ reasons syncList }

func (r *recorder) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	r.reasons.add(reason)
}
