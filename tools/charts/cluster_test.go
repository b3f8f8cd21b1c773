package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	release "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/testkit/cluster"
)

// namespace is what all releases of these tests are in: definitions that a release leaves belong to it by its name and namespace.
const namespace = "longhorn-system"

// control is the control plane of these tests. It has no definitions at first: the charts bring them.
var control struct {
	sync.Once
	cluster *cluster.Cluster
	err     error
}

func TestMain(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	log.SetLogger(logr.Discard())
	code := m.Run()
	if control.cluster != nil && control.cluster.Stop() != nil {
		code = max(code, 1)
	}
	os.Exit(code)
}

func controlPlane(t *testing.T) *cluster.Cluster {
	t.Helper()
	control.Do(func() { control.cluster, control.err = cluster.Start(context.Background(), cluster.Options{}) })
	require.NoError(t, control.err)
	return control.cluster
}

// helm does what the program helm does, on the API server of these tests, as its administrator.
type helm struct {
	t      *testing.T
	config *action.Configuration
	admin  client.Client
}

func newHelm(t *testing.T) *helm {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, controlPlane(t).AdminKubeconfig(kubeconfig))
	admin, err := client.New(controlPlane(t).AdminConfig(), client.Options{})
	require.NoError(t, err)
	flags := genericclioptions.NewConfigFlags(false)
	in := namespace
	flags.KubeConfig, flags.Namespace = &kubeconfig, &in
	config := action.NewConfiguration()
	require.NoError(t, config.Init(flags, namespace, "secret"))
	return &helm{t: t, config: config, admin: admin}
}

func (h *helm) load(name string) *chart.Chart {
	h.t.Helper()
	loaded, err := loader.Load(chartDir(name))
	require.NoError(h.t, err)
	return loaded
}

// install installs a chart and uninstalls it when the test ends.
func (h *helm) install(name string, loaded *chart.Chart, values map[string]any) *release.Release {
	h.t.Helper()
	installed, err := h.tryInstall(name, loaded, values, func(*action.Install) {})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { h.uninstall(name) })
	return installed.(*release.Release)
}

func (h *helm) tryInstall(name string, loaded *chart.Chart, values map[string]any, change func(*action.Install)) (any, error) {
	install := action.NewInstall(h.config)
	install.ReleaseName, install.Namespace, install.CreateNamespace = name, namespace, true
	install.WaitStrategy, install.ServerSideApply = kube.HookOnlyStrategy, true
	change(install)
	return install.RunWithContext(context.Background(), loaded, values)
}

func (h *helm) upgrade(name string, loaded *chart.Chart, values map[string]any) *release.Release {
	h.t.Helper()
	upgrade := action.NewUpgrade(h.config)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.ServerSideApply = namespace, kube.HookOnlyStrategy, "auto"
	upgraded, err := upgrade.RunWithContext(context.Background(), name, loaded, values)
	require.NoError(h.t, err)
	return upgraded.(*release.Release)
}

// uninstall ends a release; one that has ended already is no failure.
func (h *helm) uninstall(name string) {
	h.t.Helper()
	uninstall := action.NewUninstall(h.config)
	uninstall.IgnoreNotFound, uninstall.WaitStrategy, uninstall.DeletionPropagation = true, kube.HookOnlyStrategy, "background"
	_, err := uninstall.Run(name)
	require.NoError(h.t, err)
}

func (h *helm) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	h.t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	require.NoError(h.t, h.admin.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	return object
}

// accepted returns the objects of a release, after it read each of them from the API server.
func (h *helm) accepted(r *release.Release) []*unstructured.Unstructured {
	h.t.Helper()
	all := objects(h.t, map[string]string{r.Name: "\n" + r.Manifest})
	for _, object := range all {
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(object.GroupVersionKind())
		key := client.ObjectKeyFromObject(object)
		require.NoError(h.t, h.admin.Get(context.Background(), key, stored), "%s %s", object.GetKind(), key)
	}
	return all
}

// apiServersOwn are the groups whose cluster-wide objects the API server creates for itself some time after its start.
var apiServersOwn = map[string]bool{"flowcontrol.apiserver.k8s.io": true, "networking.k8s.io": true}

// everything lists all objects of the namespace and those in no namespace, but what the API server itself creates.
func (h *helm) everything() map[string]bool {
	h.t.Helper()
	lists, err := discovery.NewDiscoveryClientForConfigOrDie(controlPlane(h.t).AdminConfig()).ServerPreferredResources()
	require.NoError(h.t, err)
	all := map[string]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(h.t, err)
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") || !slices.Contains(resource.Verbs, "list") || resource.Kind == "Event" {
				continue
			}
			found := &unstructured.UnstructuredList{}
			found.SetGroupVersionKind(version.WithKind(resource.Kind + "List"))
			err := h.admin.List(context.Background(), found)
			if apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err) {
				continue
			}
			require.NoError(h.t, err, resource.Name)
			for _, object := range found.Items {
				if object.GetNamespace() == namespace || object.GetNamespace() == "" && !apiServersOwn[version.Group] {
					all[strings.Join([]string{version.Group, resource.Kind, object.GetNamespace(), object.GetName()}, "/")] = true
				}
			}
		}
	}
	return all
}
