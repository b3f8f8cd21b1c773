package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

func TestPlainManifestsOfClientsAreWhatTheirChartsRender(t *testing.T) {
	for _, client := range clients {
		rendered, err := render(chartDir(client), "longhorn-system", nil)
		require.NoError(t, err)
		dir := filepath.Join(root, "deploy", client)
		for name, text := range rendered {
			deployed, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Equal(t, text, string(deployed), "%s/%s: change charts/%s and run make charts", dir, name, client)
		}
		var kustomization struct{ Resources []string }
		text, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &kustomization))
		require.ElementsMatch(t, slices.Collect(maps.Keys(rendered)), kustomization.Resources, dir)
	}
}

// Where Longhorn was, its own DaemonSet and Deployments go on: nothing beside them is installed unless somebody asks for it.
func TestTheWholeChartHasNoClientUntilItIsSwitchedOn(t *testing.T) {
	without, err := render(chartDir("drover"), "longhorn-system", nil)
	require.NoError(t, err)
	for _, client := range clients {
		rendered, err := render(chartDir("drover"), "longhorn-system", map[string]any{client: map[string]any{"enabled": true}})
		require.NoError(t, err)
		own := 0
		for name, text := range rendered {
			if strings.HasPrefix(name, "charts/"+client+"/") {
				own++
				require.NotContains(t, without, name)
				continue
			}
			require.Equal(t, without[name], text, name)
		}
		require.NotZero(t, own, client)
		require.Len(t, rendered, len(without)+own)
	}
}

func TestEveryValueOfAClientChangesWhatIsRendered(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for _, client := range clients {
		defaults := readValues(t, filepath.Join(chartDir(client), "values.yaml"))
		for _, path := range leaves("", defaults) {
			require.Contains(t, leaves("", allValues(t, client)), path, "testdata/all-values-%s.yaml lacks a value", client)
		}
		before, err := render(chartDir(client), "longhorn-system", allValues(t, client))
		require.NoError(t, err)
		for _, path := range leaves("", allValues(t, client)) {
			fields := strings.Split(path, ".")
			values := allValues(t, client)
			inner := values
			for _, field := range fields[:len(fields)-1] {
				inner = inner[field].(map[string]any)
			}
			switch last := fields[len(fields)-1]; {
			case last == "digest":
				inner[last] = digest
			case inner[last] == true:
				inner[last] = false
			default:
				delete(inner, last)
			}
			after, err := render(chartDir(client), "longhorn-system", values)
			require.NoError(t, err, path)
			require.NotEqual(t, before, after, "%s: %s", client, path)
		}
	}
}

func TestImagesOfClientsComeFromTheGlobalRegistryToo(t *testing.T) {
	for _, client := range clients {
		rendered, err := render(chartDir(client), "longhorn-system", map[string]any{"global": map[string]any{
			"imageRegistry": "mirror.example.com", "imagePullSecrets": []any{map[string]any{"name": "pull"}}}})
		require.NoError(t, err)
		for _, pod := range podSpecs(t, rendered) {
			require.Equal(t, []corev1.LocalObjectReference{{Name: "pull"}}, pod.Spec.ImagePullSecrets)
			for _, container := range pod.Spec.Containers {
				require.Regexp(t, `^mirror\.example\.com/longhornio/[a-z-]+:v[0-9.]+$`, container.Image)
			}
		}
	}
}

// podSpecs returns the pod templates of rendered manifests by the names of their objects.
func podSpecs(t *testing.T, rendered map[string]string) map[string]corev1.PodTemplateSpec {
	t.Helper()
	all := map[string]corev1.PodTemplateSpec{}
	for _, object := range objects(t, rendered) {
		if kind := object.GetKind(); kind != "Deployment" && kind != "DaemonSet" {
			continue
		}
		var workload appsv1.Deployment
		convert(t, object, &workload)
		all[object.GetName()] = workload.Spec.Template
	}
	require.NotEmpty(t, all)
	return all
}

func convert(t *testing.T, object *unstructured.Unstructured, into any) {
	t.Helper()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into), object.GetName())
}

// The plugin registers its socket under the path that the kubelet sees, and every program beside it uses the same directory.
func TestThePluginAndItsSidecarsShareTheSocketOfTheKubelet(t *testing.T) {
	rendered, err := render(chartDir("csi"), "longhorn-system", allValues(t, "csi"))
	require.NoError(t, err)
	pods := podSpecs(t, rendered)
	require.Equal(t, []string{"csi-attacher", "csi-provisioner", "csi-resizer", "csi-snapshotter", "longhorn-csi-plugin"},
		slices.Sorted(maps.Keys(pods)))
	const socketDir = "/var/lib/other/plugins/driver.longhorn.io"
	for name, pod := range pods {
		paths := map[string]string{}
		for _, volume := range pod.Spec.Volumes {
			paths[volume.Name] = volume.HostPath.Path
		}
		require.Equal(t, socketDir, paths["socket-dir"], name)
		for _, container := range pod.Spec.Containers {
			require.Contains(t, container.VolumeMounts, corev1.VolumeMount{Name: "socket-dir", MountPath: "/csi/"}, "%s of %s", container.Name, name)
			require.Contains(t, strings.Join(container.Args, " "), "/csi/csi.sock", "%s of %s", container.Name, name)
		}
	}
	registrar := pods["longhorn-csi-plugin"].Spec.Containers[0]
	require.Contains(t, registrar.Args, "--kubelet-registration-path="+socketDir+"/csi.sock")
	plugin := pods["longhorn-csi-plugin"].Spec.Containers[2]
	bidirectional := corev1.MountPropagationBidirectional
	for name, path := range map[string]string{"kubelet-pods": "/var/lib/other/pods",
		"kubelet-plugins": "/var/lib/other/plugins/kubernetes.io/csi"} {
		require.Contains(t, plugin.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, MountPropagation: &bidirectional},
			"what the plugin mounts has to be seen by the kubelet")
	}
}

// A label, a Service and a port join three charts: the plugin and the interface ask the Service of api-gateway, whose NetworkPolicy lets
// their labels in.
func TestClientsReachTheGatewayThroughItsServiceAndItsNetworkPolicy(t *testing.T) {
	gateway, err := render(chartDir("api-gateway"), "longhorn-system", nil)
	require.NoError(t, err)
	var service corev1.Service
	convert(t, objects(t, map[string]string{"": gateway["service.yaml"]})[0], &service)
	url := "http://" + service.Name + ":9500"
	require.EqualValues(t, 9500, service.Spec.Ports[0].Port)
	var policy networkingv1.NetworkPolicy
	convert(t, objects(t, map[string]string{"": gateway["networkpolicy.yaml"]})[0], &policy)
	var allowed []string
	for _, rule := range policy.Spec.Ingress {
		if rule.Ports[0].Port.String() == "manager" {
			allowed = rule.From[0].PodSelector.MatchExpressions[0].Values
		}
	}
	for client, workload := range map[string]string{"csi": "longhorn-csi-plugin", "ui": "longhorn-ui"} {
		rendered, err := render(chartDir(client), "longhorn-system", nil)
		require.NoError(t, err)
		pod := podSpecs(t, rendered)[workload]
		require.Contains(t, allowed, pod.Labels["app"])
		text, err := yaml.Marshal(pod.Spec)
		require.NoError(t, err)
		require.Contains(t, string(text), url, workload)
	}
}

func TestNobodyReachesTheInterfaceUntilAValueNamesThem(t *testing.T) {
	for _, all := range []bool{false, true} {
		values := map[string]any{}
		if all {
			values = allValues(t, "ui")
		}
		rendered, err := render(chartDir("ui"), "longhorn-system", values)
		require.NoError(t, err)
		var policy networkingv1.NetworkPolicy
		convert(t, objects(t, map[string]string{"": rendered["networkpolicy.yaml"]})[0], &policy)
		require.Equal(t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, policy.Spec.PolicyTypes)
		if !all {
			require.Empty(t, policy.Spec.Ingress)
			continue
		}
		require.Len(t, policy.Spec.Ingress, 1)
		require.NotEmpty(t, policy.Spec.Ingress[0].From, "a rule without peers lets in everybody")
	}
}

// A program has an account of its own, and none of these accounts reads Secrets that no value names, or writes Longhorn's objects.
func TestAccountsOfTheCSIChartReadOnlyNamedSecretsAndWriteNoObjectOfLonghorn(t *testing.T) {
	rendered, err := render(chartDir("csi"), "longhorn-system", allValues(t, "csi"))
	require.NoError(t, err)
	secrets := map[string][]string{}
	for _, object := range objects(t, map[string]string{"": rendered["role.yaml"]}) {
		var role rbacv1.ClusterRole
		convert(t, object, &role)
		for _, rule := range role.Rules {
			require.NotContains(t, slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs), "*", role.Name)
			if slices.Contains(rule.APIGroups, "longhorn.io") {
				require.ElementsMatch(t, []string{"get", "list"}, rule.Verbs, role.Name)
			}
			if slices.Contains(rule.Resources, "secrets") {
				require.Equal(t, []string{"get"}, rule.Verbs, role.Name)
				require.Equal(t, "Role", object.GetKind(), role.Name)
				secrets[role.Name] = rule.ResourceNames
			}
		}
	}
	require.Equal(t, map[string][]string{"drover-csi-provisioner": {"passphrase"}, "drover-csi-resizer": {"passphrase"}}, secrets)
	without, err := render(chartDir("csi"), "longhorn-system", nil)
	require.NoError(t, err)
	require.NotContains(t, without["role.yaml"], "secrets")
	for name, pod := range podSpecs(t, rendered) {
		require.Equal(t, "drover-"+strings.TrimPrefix(name, "longhorn-"), pod.Spec.ServiceAccountName)
	}
}
