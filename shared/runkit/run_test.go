package runkit_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
)

const patience, tick = 60 * time.Second, 20 * time.Millisecond

// program is a running binary that creates one ConfigMap as soon as it leads.
type program struct {
	namespace, health string
	ended             chan error
	stop              context.CancelFunc
}

func start(t *testing.T, namespace string, flags ...string) *program {
	t.Helper()
	return startAs(t, namespace, adminKubeconfig(t), flags...)
}

func adminKubeconfig(t *testing.T) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().AdminKubeconfig(kubeconfig))
	return kubeconfig
}

func startAs(t *testing.T, namespace, kubeconfig string, flags ...string) *program {
	t.Helper()
	return startDoing(t, namespace, kubeconfig, write, flags...)
}

// startDoing starts a binary that does something as soon as it leads.
func startDoing(t *testing.T, namespace, kubeconfig string, do func(context.Context, *runkit.Runtime) error, flags ...string) *program {
	t.Helper()
	return startCaching(t, namespace, kubeconfig, nil, do, flags...)
}

// startCaching starts a binary whose cache has kinds of its own.
func startCaching(t *testing.T, namespace, kubeconfig string, kinds map[client.Object]cache.ByObject,
	do func(context.Context, *runkit.Runtime) error, flags ...string) *program {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &program{namespace: namespace, health: listener.Addr().String(), ended: make(chan error, 1)}
	require.NoError(t, listener.Close())
	command := runkit.Command(runkit.Program{
		Name: "tester", Version: "0.3.1\n", Contracts: []string{"0", "1"}, Cache: kinds,
		Setup: func(ctx context.Context, rt *runkit.Runtime) error {
			if _, err := rt.Manager.GetCache().GetInformer(ctx, &corev1.ConfigMap{}); err != nil {
				return err
			}
			return rt.Manager.Add(manager.RunnableFunc(func(ctx context.Context) error {
				if err := do(ctx, rt); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			}))
		},
	})
	command.SetArgs(append([]string{
		"--kubeconfig=" + kubeconfig, "--namespace=" + namespace, "--metrics-bind-address=0", "--health-probe-bind-address=" + p.health,
		"--lease-duration=2s", "--renew-deadline=1500ms", "--retry-period=100ms", "--log-level=error",
	}, flags...))
	var ctx context.Context
	ctx, p.stop = context.WithCancel(t.Context())
	go func() { p.ended <- command.ExecuteContext(ctx) }()
	t.Cleanup(p.stop)
	return p
}

// write creates the ConfigMap of a binary that leads.
func write(ctx context.Context, rt *runkit.Runtime) error {
	written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written", Namespace: rt.Namespace}}
	return client.IgnoreAlreadyExists(rt.Client.Create(ctx, written))
}

func (p *program) wrote(t *testing.T) bool {
	err := testkit.Admin(t).Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "written"}, &corev1.ConfigMap{})
	require.NoError(t, client.IgnoreNotFound(err))
	return err == nil
}

func (p *program) lease(t *testing.T) *coordinationv1.Lease {
	var lease coordinationv1.Lease
	err := testkit.Admin(t).Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "drover-tester"}, &lease)
	require.NoError(t, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return &lease
}

// ready returns the status code of /readyz, 0 without an answer.
func (p *program) ready() int {
	response, err := http.Get("http://" + p.health + "/readyz")
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// probe returns the body of the answer to a probe, empty without an answer.
func (p *program) probe(path string) string {
	response, err := http.Get("http://" + p.health + path)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

func longhornManager(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "longhorn-manager-x", Namespace: namespace,
			Labels: map[string]string{"app": "longhorn-manager"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "none"}}},
	}
	admin := testkit.Admin(t)
	require.NoError(t, admin.Create(t.Context(), pod))
	pod.Status.Phase = corev1.PodRunning
	require.NoError(t, admin.Status().Update(t.Context(), pod))
	return pod
}

func TestALeaderWorksAndGivesItsLeaseBackOnExit(t *testing.T) {
	p := start(t, testkit.Namespace(t))
	require.Eventually(t, func() bool { return p.wrote(t) && p.ready() == http.StatusOK }, patience, tick)
	require.Equal(t, map[string]string{"app.kubernetes.io/version": "0.3.1", "drover.dev/contracts": "0_1"}, p.lease(t).Labels,
		"people ask which version leads")
	p.stop()
	require.NoError(t, <-p.ended)
	require.Empty(t, *p.lease(t).Spec.HolderIdentity, "the next leader must not wait for a lease of one that left")
}

func TestAnObserverWritesNothingNoLeaseEither(t *testing.T) {
	p := start(t, testkit.Namespace(t), "--observe")
	require.Eventually(t, func() bool { return p.ready() == http.StatusOK }, patience, tick)
	p.stop()
	require.NoError(t, <-p.ended)
	require.False(t, p.wrote(t))
	require.Nil(t, p.lease(t))
}

// Two control planes on the same objects would undo each other's work.
func TestNobodyLeadsBesideARunningLonghornManager(t *testing.T) {
	namespace := testkit.Namespace(t)
	pod := longhornManager(t, namespace)
	p := start(t, namespace)
	require.Eventually(t, func() bool { return p.ready() == http.StatusInternalServerError }, patience, tick,
		"the reason must be visible where operators check first")
	require.False(t, p.wrote(t))
	require.Nil(t, p.lease(t))

	require.NoError(t, testkit.Admin(t).Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	require.Eventually(t, func() bool { return p.wrote(t) }, patience, tick, "once it is gone, work begins by itself")
}

func TestALeaderStopsWhenALonghornManagerAppears(t *testing.T) {
	p := start(t, testkit.Namespace(t))
	require.Eventually(t, func() bool { return p.wrote(t) }, patience, tick)
	longhornManager(t, p.namespace)
	select {
	case err := <-p.ended:
		require.ErrorContains(t, err, "longhorn-manager")
		require.ErrorContains(t, err, "--force-take-over")
	case <-time.After(patience):
		require.Fail(t, "it continues beside a longhorn-manager")
	}
}

func TestForceTakeOverLeadsBesideALonghornManager(t *testing.T) {
	namespace := testkit.Namespace(t)
	longhornManager(t, namespace)
	p := start(t, namespace, "--force-take-over")
	require.Eventually(t, func() bool { return p.wrote(t) }, patience, tick)
}

// A definition of a contract that the binary does not know may mean by a field what it would read otherwise.
func TestNobodyWorksOnDefinitionsThatItDoesNotKnow(t *testing.T) {
	p := start(t, testkit.Namespace(t))
	require.Eventually(t, func() bool { return p.wrote(t) && p.ready() == http.StatusOK }, patience, tick)

	relabel(t, "2")
	t.Cleanup(func() { relabel(t, "1") })
	select {
	case err := <-p.ended:
		require.ErrorContains(t, err, `orphans.longhorn.io with "2"`, "a leader stops")
	case <-time.After(patience):
		require.Fail(t, "it continues")
	}
	next := start(t, testkit.Namespace(t))
	require.Eventually(t, func() bool { return next.ready() == http.StatusInternalServerError }, patience, tick)
	require.False(t, next.wrote(t))
	relabel(t, "1")
	require.Eventually(t, func() bool { return next.wrote(t) && next.ready() == http.StatusOK }, patience, tick,
		"once they are known, work begins by itself")
}

func relabel(t *testing.T, contract string) {
	t.Helper()
	definition := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "orphans.longhorn.io"}}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"drover.dev/contract":"`+contract+`"}}}`))
	require.NoError(t, testkit.Admin(t).Patch(context.Background(), definition, patch))
}

// A binary whose Role is missing must report it and stop when it is reported to.
func TestABinaryWithoutRightsStillStops(t *testing.T) {
	namespace := testkit.Namespace(t)
	testkit.Identity(t, namespace, "unprivileged", nil)
	token, err := testkit.Cluster().Token(t.Context(), namespace, "unprivileged")
	require.NoError(t, err)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().TokenKubeconfig(kubeconfig, token))
	p := startAs(t, namespace, kubeconfig, "--observe", "--shutdown-timeout=200ms")
	require.Eventually(t, func() bool { return p.ready() == http.StatusInternalServerError }, patience, tick)
	p.stop()
	select {
	case <-p.ended:
	case <-time.After(patience):
		require.Fail(t, "it does not stop")
	}
}

// A token that the API server does not know is another cause than an API server that is away.
func TestABinaryWithoutAnIdentityNamesIt(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().TokenKubeconfig(kubeconfig, "no-token-of-this-cluster"))
	p := startAs(t, "nowhere", kubeconfig)
	require.Eventually(t, func() bool { return strings.Contains(p.probe("/readyz"), "knows no such identity; the token") }, patience, tick)
	p.stop()
	require.NoError(t, <-p.ended)
}

// An API server that has just started serves custom resources moments after the rest, and definitions may come after the controllers.
func TestABinaryWaitsForTheKindsOfItsCache(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "later.example.com", Version: "v1", Kind: "Thing"}
	thing := &metav1.PartialObjectMetadata{}
	thing.SetGroupVersionKind(kind)
	p := startCaching(t, testkit.Namespace(t), adminKubeconfig(t), map[client.Object]cache.ByObject{thing: {}}, write)
	require.Eventually(t, func() bool { return strings.Contains(p.probe("/readyz"), "does not serve later.example.com/v1 Thing") }, patience,
		tick)
	require.Empty(t, p.ended, "it ended")

	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things." + kind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: kind.Kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}}}}
	definitions := apiextensions.NewForConfigOrDie(testkit.Cluster().AdminConfig()).ApiextensionsV1().CustomResourceDefinitions()
	_, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, definitions.Delete(context.Background(), definition.Name, metav1.DeleteOptions{}))
	})
	require.Eventually(t, func() bool { return p.wrote(t) && p.ready() == http.StatusOK }, patience, tick)
}

// Until there is an API server, a binary waits, and a request to stop is a clean end.
func TestABinaryWaitsForAnAPIServerAndStopsMeanwhile(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"x",
		"clusters":[{"name":"x","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"x","user":{"token":"t"}}],
		"contexts":[{"name":"x","context":{"cluster":"x","user":"x"}}]}`), 0o600))
	p := startAs(t, "nowhere", kubeconfig)
	require.Eventually(t, func() bool { return strings.Contains(p.probe("/readyz"), "https://127.0.0.1:1 does not answer") }, patience,
		tick)
	require.Equal(t, "ok\n", p.probe("/healthz"), "a probe must not end what waits")
	require.Empty(t, p.ended, "it abandoned")
	p.stop()
	require.NoError(t, <-p.ended)
}

func TestOfTwoOnlyOneLeads(t *testing.T) {
	namespace := testkit.Namespace(t)
	first := start(t, namespace)
	require.Eventually(t, func() bool { return first.wrote(t) }, patience, tick)
	second := start(t, namespace)
	require.Eventually(t, func() bool { return second.ready() == http.StatusOK }, patience, tick)
	holder := *first.lease(t).Spec.HolderIdentity
	first.stop()
	require.NoError(t, <-first.ended)
	require.Eventually(t, func() bool {
		now := *first.lease(t).Spec.HolderIdentity
		return now != "" && now != holder
	}, patience, tick, fmt.Sprintf("no process followed %s", holder))
}
