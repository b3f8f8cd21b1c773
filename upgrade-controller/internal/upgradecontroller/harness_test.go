package upgradecontroller

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/setting"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

const (
	patience = 90 * time.Second
	poll     = testkit.Poll
)

// world is a namespace of a real API server with upgrade-controller in it, as its own ServiceAccount with its generated
// role. Three nodes run the old image; the default is the new one.
type world struct {
	t         testing.TB
	namespace string
	admin     client.WithWatch
	identity  *rest.Config
	options   Options
	// wrap wraps the client of the controller, where it is set.
	wrap func(client.Client) client.Client

	run shell.Slot
}

// process is one run of the controller.
type process struct {
	*shell.Process
	registry *prometheus.Registry
}

func newWorld(t testing.TB, build func(*model.World)) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	w.identity = testkit.BinaryIdentity(t, w.namespace, Owner)
	objects := model.New()
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		objects.AddNode(name)
	}
	build(objects)
	n := &peers{admin: w.admin, namespace: w.namespace}
	empty := model.New()
	require.NoError(t, firstError(
		write(t.Context(), n, empty.Nodes, objects.Nodes), write(t.Context(), n, empty.Managers, objects.Managers),
		write(t.Context(), n, empty.Volumes, objects.Volumes), write(t.Context(), n, empty.Engines, objects.Engines),
		write(t.Context(), n, empty.Replicas, objects.Replicas)))
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.DefaultInstanceManagerImage), Value: model.NewImage})
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
		Wrap: w.wrap,
	}, func(ctx context.Context, rt *runkit.Runtime) error { return Setup(ctx, rt, p.registry, w.options) })
	w.run.Hold(p.Process)
	return p
}

func (w *world) stop() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

// upgrade asks for an upgrade, of all nodes or of these.
func (w *world) upgrade(name string, change func(*v1beta2.DataEngineUpgradeManagerSpec)) {
	w.t.Helper()
	m := &v1beta2.DataEngineUpgradeManager{ObjectMeta: w.meta(name)}
	m.Spec.DataEngine = v1beta2.DataEngineV2
	if change != nil {
		change(&m.Spec)
	}
	w.create(m)
}

// patch merges into an object's spec, as a person does.
func (w *world) patch(obj client.Object, body string) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Patch(w.t.Context(), obj, client.RawPatch("application/merge-patch+json", []byte(body))))
}

// manager reads an upgrade; nil: it is gone.
func (w *world) manager(name string) *v1beta2.DataEngineUpgradeManager {
	w.t.Helper()
	found := &v1beta2.DataEngineUpgradeManager{}
	err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return found
}

// node reads the upgrade of a node; nil: there is none.
func (w *world) node(name string) *v1beta2.NodeDataEngineUpgrade {
	w.t.Helper()
	found := &v1beta2.NodeDataEngineUpgrade{}
	err := w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return found
}

func (w *world) objects() *model.World {
	w.t.Helper()
	found, err := read(w.t.Context(), w.admin, w.namespace)
	require.NoError(w.t, err)
	return found
}

// reaches waits until the upgrade is in the state.
func (w *world) reaches(name, state string) *v1beta2.DataEngineUpgradeManager {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for range tick.C {
		m := w.manager(name)
		if m != nil && m.Status.State == state {
			return m
		}
		if time.Now().After(deadline) {
			for _, u := range w.objects().Upgrades {
				w.t.Logf("%s: %+v", u.Name, u.Status)
			}
			require.Failf(w.t, "never "+state, "%+v", m)
		}
	}
	return nil
}

func (w *world) until(message string, condition func() bool) {
	w.t.Helper()
	require.Eventually(w.t, condition, patience, poll, message)
}

// failing is a client whose creations and patches fail where refuse returns an error.
func failing(c client.Client, refuse func(client.Object) error) client.Client {
	return failingClient{Client: c, refuse: refuse}
}

type failingClient struct {
	client.Client
	refuse func(client.Object) error
}

func (c failingClient) Create(ctx context.Context, obj client.Object, options ...client.CreateOption) error {
	if err := c.refuse(obj); err != nil {
		return err
	}
	return c.Client.Create(ctx, obj, options...)
}

func (c failingClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
	if err := c.refuse(obj); err != nil {
		return err
	}
	return c.Client.Patch(ctx, obj, patch, options...)
}
