package cluster_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"drover.dev/drover/shared/testkit/cluster"
)

const (
	within = 30 * time.Second
	every  = 20 * time.Millisecond
)

func TestClustersRunBesideEachOtherAndStopWithoutTrace(t *testing.T) {
	clusters := make([]*cluster.Cluster, 2)
	var starts errgroup.Group
	for i := range clusters {
		starts.Go(func() (err error) {
			clusters[i], err = cluster.Start(context.Background(), cluster.Options{BaseDir: t.TempDir()})
			return err
		})
	}
	err := starts.Wait()
	for _, c := range clusters {
		if c != nil {
			defer func() { require.NoError(t, c.Stop()) }()
		}
	}
	require.NoError(t, err)

	first, second := clients(t, clusters[0].AdminConfig()), clients(t, clusters[1].AdminConfig())
	makeNamespace(t, first, "only-here")
	_, err = second.CoreV1().Namespaces().Get(t.Context(), "only-here", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "clusters share nothing, yet: %v", err)

	for _, c := range clusters {
		require.NoError(t, c.Stop())
		require.NoDirExists(t, c.Dir())
		require.False(t, listens(c.APIServerURL()))
		require.NoError(t, c.Stop(), "stopping twice is no error")
	}
}

func TestOneClusterWithEverything(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	c := start(t, cluster.Options{Audit: true, DataDir: data})
	admin := clients(t, c.AdminConfig())

	t.Run("a ServiceAccount's token is let in, and may do nothing without a role", func(t *testing.T) {
		token := makeAccount(t, c, admin, "nobody")
		_, err := clients(t, c.TokenConfig(token)).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		_, err = clients(t, c.TokenConfig("forged")).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsUnauthorized(err), "%v", err)
	})

	t.Run("kubeconfigs give the same access as configs", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "admin")
		require.NoError(t, c.AdminKubeconfig(path))
		_, err := clients(t, load(t, path)).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)

		require.NoError(t, c.TokenKubeconfig(path, makeAccount(t, c, admin, "reader")))
		_, err = clients(t, load(t, path)).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	})

	t.Run("the audit log knows who asked for what", func(t *testing.T) {
		want := cluster.Request{
			User: "system:serviceaccount:default:nobody", Verb: "list", Resource: "nodes", Code: 403,
		}
		require.Eventually(t, func() bool {
			requests, err := c.AuditedRequests()
			return err == nil && slices.Contains(requests, want)
		}, within, every)
	})

	t.Run("the API server comes back at the same address with the same objects and keys", func(t *testing.T) {
		token := makeAccount(t, c, admin, "survivor")
		makeNamespace(t, admin, "survives")
		c.StopAPIServer()
		require.False(t, listens(c.APIServerURL()))
		require.NoError(t, c.StartAPIServer(t.Context()))
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), "survives", metav1.GetOptions{})
		require.NoError(t, err)
		_, err = clients(t, c.TokenConfig(token)).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		require.True(t, apierrors.IsForbidden(err), "%v", err)
	})

	require.NoError(t, c.Stop())
	require.DirExists(t, data, "a kept data directory stays")
	t.Run("another cluster starts from a copy of the kept data", func(t *testing.T) {
		c := start(t, cluster.Options{DataFrom: data, ControllerManager: true})
		admin := clients(t, c.AdminConfig())
		_, err := admin.CoreV1().Namespaces().Get(t.Context(), "survives", metav1.GetOptions{})
		require.NoError(t, err)

		// With a controller manager, a namespace gets what belongs into every namespace.
		makeNamespace(t, admin, "furnished")
		require.Eventually(t, func() bool {
			_, err := admin.CoreV1().ServiceAccounts("furnished").Get(t.Context(), "default", metav1.GetOptions{})
			return err == nil
		}, within, every)
	})
}

func TestAServerThatCannotRunIsAnErrorWithItsLastWords(t *testing.T) {
	base := t.TempDir()
	_, err := cluster.Start(t.Context(), cluster.Options{BaseDir: base, APIServerFlags: []string{"--no-such-flag"}})
	require.ErrorContains(t, err, "kube-apiserver exited")
	require.ErrorContains(t, err, "no-such-flag")
	require.Empty(t, list(t, base), "nothing stays behind")
}

func TestAStartThatIsCancelledLeavesNothing(t *testing.T) {
	base := t.TempDir()
	_, err := cluster.Start(t.Context(), cluster.Options{BaseDir: base, StartTimeout: time.Millisecond})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, list(t, base), "nothing stays behind")
}

func start(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	began := time.Now()
	c, err := cluster.Start(t.Context(), options)
	require.NoError(t, err)
	t.Logf("ready after %s", time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		began := time.Now()
		require.NoError(t, c.Stop())
		t.Logf("stopped after %s", time.Since(began).Round(time.Millisecond))
	})
	return c
}

func clients(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	clients, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return clients
}

func load(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	return config
}

func makeNamespace(t *testing.T, admin kubernetes.Interface, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := admin.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
}

func makeAccount(t *testing.T, c *cluster.Cluster, admin kubernetes.Interface, name string) (token string) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err = c.Token(t.Context(), "default", name)
	require.NoError(t, err)
	return token
}

func list(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return entries
}

func read(path string) string {
	data, _ := os.ReadFile(path)
	return string(bytes.TrimSpace(data))
}
