package nodecontroller

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/defaults"
	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/disk-controller/internal/environment"
	"drover.dev/drover/disk-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	sharedsetting "drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
)

func TestMain(m *testing.M) {
	testkit.Main(m)
}

// env is a namespace of a real API server with disk-controller of one node in it, with the token of its pod. Kubernetes nodes have no
// namespace: each env has its own.
type env struct {
	t               *testing.T
	namespace, name string
	admin           client.WithWatch
	identity        *rest.Config
	host            environment.Host
	period          time.Duration
	// problem is why directories cannot be used.
	problem atomic.Value
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t)}
	e.name = "node-of-" + e.namespace
	e.problem.Store("")
	e.host, e.period = environment.Host{Root: t.TempDir(), Proc: t.TempDir(), Sys: t.TempDir()}, time.Hour
	e.identity = testkit.BinaryIdentityOn(t, e.namespace, fieldOwner, e.name)
	return e
}

// look finds each directory on one file system of 100 bytes.
func (e *env) look(string) disk.Sight {
	return disk.Sight{Problem: e.problem.Load().(string), Filesystem: "0000000000fd", Maximum: 100}
}

// start runs the controller until the test ends, or is cut.
func (e *env) start(at cut.Point) *shell.Process {
	e.t.Helper()
	kept := map[client.Object]cache.ByObject{&v1beta2.Node{}: {Field: fields.OneTermEqualSelector("metadata.name", e.name)}}
	maps.Copy(kept, Cached(e.name))
	p := shell.Start(e.t, shell.Options{Identity: e.identity, Namespace: e.namespace, Owner: fieldOwner, Cache: kept, At: at},
		func(ctx context.Context, rt *runkit.Runtime) error {
			settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
			return errors.Join(
				settingcontroller.Setup(rt, settings, sharedsetting.DiskController, "drover_disk_controller_setting_invalid"),
				Setup(ctx, rt, settings, Options{Node: e.name, Look: e.look, Host: e.host, CheckPeriod: e.period}))
		})
	e.t.Cleanup(func() {
		p.Stop()
		require.NoError(e.t, p.Wait())
	})
	return p
}

// kubernetes makes the Kubernetes node.
func (e *env) kubernetes(labels, annotations map[string]string) *corev1.Node {
	e.t.Helper()
	k := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: e.name, Labels: labels, Annotations: annotations}}
	require.NoError(e.t, e.admin.Create(e.t.Context(), k))
	e.t.Cleanup(func() { require.NoError(e.t, client.IgnoreNotFound(e.admin.Delete(context.Background(), k))) })
	return k
}

// annotate sets an annotation of the Kubernetes node, tag its default tags.
func (e *env) annotate(key, value string) {
	e.t.Helper()
	k := &corev1.Node{}
	require.NoError(e.t, e.admin.Get(e.t.Context(), client.ObjectKey{Name: e.name}, k))
	changed := k.DeepCopy()
	metav1.SetMetaDataAnnotation(&changed.ObjectMeta, key, value)
	require.NoError(e.t, e.admin.Patch(e.t.Context(), changed, client.MergeFrom(k)))
}

func (e *env) tag(list string) { e.annotate(defaults.AnnotationTags, list) }

// node makes the Longhorn Node.
func (e *env) node(annotations map[string]string, changes ...func(*v1beta2.Node)) *v1beta2.Node {
	e.t.Helper()
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: e.name, Annotations: annotations}}
	for _, change := range changes {
		change(n)
	}
	require.NoError(e.t, e.admin.Create(e.t.Context(), n))
	return n
}

// set writes a Setting.
func (e *env) set(name, value string) *v1beta2.Setting {
	e.t.Helper()
	s := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}, Value: value}
	require.NoError(e.t, e.admin.Create(e.t.Context(), s))
	return s
}

func (e *env) await(n *v1beta2.Node, what string, is func(*v1beta2.Node) bool) *v1beta2.Node {
	e.t.Helper()
	return testkit.WaitFor(e.t, e.admin, n, what, is)
}

// hasEvent reports whether an object of the namespace has an event with a reason.
func (e *env) hasEvent(reason, of string) bool {
	var list eventsv1.EventList
	require.NoError(e.t, e.admin.List(context.Background(), &list, client.InNamespace(e.namespace)))
	for i := range list.Items {
		if list.Items[i].Reason == reason && list.Items[i].Regarding.Name == of {
			return true
		}
	}
	return false
}
