package replicacontroller

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	account    = "attach-controller"
	patience   = 60 * time.Second
	checkPlace = testkit.Poll
	vol        = "vol-1"
	gib        = int64(1) << 30
)

// world is a namespace of a real API server with the controller of replicas in it, as attach-controller's ServiceAccount
// with its generated roles. The test plays everybody else.
type world struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	// ahead is the controller's clock before that of the API server.
	ahead time.Duration

	run shell.Slot
}

// newWorld has three nodes that are ready, each with a block disk of 100 GiB and an instance manager of v2.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.identity = testkit.BinaryIdentity(t, w.namespace, account)
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		w.node(name)
	}
	t.Cleanup(w.stop)
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) start() *shell.Process { return w.startCut(cut.Point{}, nil) }

// startCut runs the controller until it is stopped, or cut.
func (w *world) startCut(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	p := shell.Start(w.t, shell.Options{Identity: w.identity, Namespace: w.namespace, Owner: account, At: at, OnCut: onCut,
		Clock: skewed{ahead: w.ahead}},
		func(ctx context.Context, rt *runkit.Runtime) error {
			if err := abandonedcontroller.Setup(ctx, rt); err != nil {
				return err
			}
			return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, w.namespace, setting.Catalogue))
		})
	w.run.Hold(p)
	return p
}

// skewed is a clock that is ahead.
type skewed struct {
	clock.RealClock
	ahead time.Duration
}

// Now implements clock.PassiveClock.
func (s skewed) Now() time.Time { return s.RealClock.Now().Add(s.ahead) }

func (w *world) stop() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(w.t.Context(), obj)))
}

func (w *world) spec(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, obj, fields))
}

func (w *world) status(obj client.Object, fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, obj, fields))
}

func (w *world) setting(name, value string) {
	w.t.Helper()
	s := &v1beta2.Setting{ObjectMeta: w.meta(name), Value: value}
	err := w.admin.Create(w.t.Context(), s)
	if apierrors.IsAlreadyExists(err) {
		body, _ := json.Marshal(map[string]string{"value": value})
		err = w.admin.Patch(w.t.Context(), s, client.RawPatch("application/merge-patch+json", body))
	}
	require.NoError(w.t, err)
}

// replicas are those of the volume now, in order of their nodes.
func (w *world) replicas(volume string) []v1beta2.Replica {
	var list v1beta2.ReplicaList
	require.NoError(w.t, w.admin.List(context.Background(), &list, client.InNamespace(w.namespace)))
	of := slices.DeleteFunc(list.Items, func(r v1beta2.Replica) bool { return r.Spec.VolumeName != volume })
	slices.SortFunc(of, func(a, b v1beta2.Replica) int {
		return strings.Compare(a.Spec.NodeID+a.Name, b.Spec.NodeID+b.Name)
	})
	return of
}

// said is the volume's replicas in short: "node-1 node-2/failed node-3/going".
func (w *world) said(volume string) string {
	var out []string
	for _, r := range w.replicas(volume) {
		word := r.Spec.NodeID
		switch {
		case r.DeletionTimestamp != nil:
			word += "/going"
		case r.Spec.FailedAt != "":
			word += "/failed"
		case r.Spec.HealthyAt == "":
			word += "/new"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// shows waits until the volume has exactly these replicas.
func (w *world) shows(volume, wanted string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) { require.Equal(c, wanted, w.said(volume)) }, patience, checkPlace)
}

// on is the volume's replica on the node.
func (w *world) on(volume, node string) *v1beta2.Replica {
	w.t.Helper()
	for _, r := range w.replicas(volume) {
		if r.Spec.NodeID == node {
			return &r
		}
	}
	require.Fail(w.t, "no replica on "+node)
	return nil
}

// scheduled waits until the volume's condition has this reason.
func (w *world) scheduled(volume, reason string) v1beta2.Condition {
	w.t.Helper()
	return w.condition(&v1beta2.Volume{ObjectMeta: w.meta(volume)}, v1beta2.VolumeScheduled, reason)
}

// condition waits until a condition has this reason.
func (w *world) condition(obj client.Object, kind, reason string) v1beta2.Condition {
	w.t.Helper()
	var found v1beta2.Condition
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		require.NoError(c, w.admin.Get(context.Background(), client.ObjectKeyFromObject(obj), obj))
		var list []v1beta2.Condition
		switch o := obj.(type) {
		case *v1beta2.Volume:
			list = o.Status.Conditions
		case *v1beta2.Replica:
			list = o.Status.Conditions
		}
		at := slices.IndexFunc(list, func(one v1beta2.Condition) bool { return one.Type == kind })
		require.GreaterOrEqual(c, at, 0, "no condition "+kind)
		found = list[at]
		require.Equal(c, reason, found.Reason, found.Message)
	}, patience, checkPlace)
	return found
}

// quiet waits until the controller has not written for a while.
func (w *world) quiet(p *shell.Process) int {
	w.t.Helper()
	last, since := -1, time.Now()
	require.Eventually(w.t, func() bool {
		if n := len(p.Client.Writes()); n != last {
			last, since = n, time.Now()
		}
		return time.Since(since) > time.Second
	}, patience, checkPlace)
	return last
}

func (w *world) eventually(holds func() bool, message string, args ...any) {
	w.t.Helper()
	require.Eventually(w.t, holds, patience, checkPlace, append([]any{message}, args...)...)
}

// event waits until an event of that reason was emitted.
func (w *world) event(reason string) {
	w.t.Helper()
	w.eventually(func() bool {
		var list eventsv1.EventList
		require.NoError(w.t, w.admin.List(context.Background(), &list, client.InNamespace(w.namespace)))
		return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return e.Reason == reason })
	}, "no event %s", reason)
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
