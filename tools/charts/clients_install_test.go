//go:build !fast

package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var daemonSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DaemonSet"}

// withClients switches the clients on in the chart of the whole.
func withClients() map[string]any {
	return map[string]any{"csi": map[string]any{"enabled": true}, "ui": map[string]any{"enabled": true}}
}

func TestClientsAreInstalledWithTheWholeSystemAndRemovedAgain(t *testing.T) {
	h := newHelm(t)
	h.install("drover", h.load("drover"), nil)
	before := h.everything()
	count := kinds(h.accepted(h.upgrade("drover", h.load("drover"), withClients())))
	require.Equal(t, []int{2, 1, len(controllers) - 1 + 3, 1, 3, 2}, []int{count["DaemonSet"], count["CSIDriver"], count["Deployment"],
		count["StorageClass"], count["ServiceAccount"] - len(controllers), count["Service"] - 1})
	h.enforce("privileged")
	for name, kind := range map[string]schema.GroupVersionKind{"longhorn-csi-plugin": daemonSets, "csi-provisioner": deployments,
		"csi-resizer": deployments} {
		require.NoError(t, h.tryPod(kind, name), name)
	}
	h.enforce("restricted")
	t.Cleanup(func() { h.enforce("privileged") })
	require.NoError(t, h.tryPod(deployments, "longhorn-ui"), "the interface needs nothing that a restricted namespace lacks")
	require.ErrorContains(t, h.tryPod(daemonSets, "longhorn-csi-plugin"), "PodSecurity", "it mounts for the kubelet")
	h.upgrade("drover", h.load("drover"), map[string]any{"csi": map[string]any{"enabled": false}, "ui": map[string]any{"enabled": false}})
	for left := range h.everything() {
		require.True(t, before[left] || left == "/Secret/"+namespace+"/sh.helm.release.v1.drover.v2" ||
			left == "/Secret/"+namespace+"/sh.helm.release.v1.drover.v3", "%s is left", left)
	}
}

// tryPod lets the API server decide on a pod of a workload, without creating it.
func (h *helm) tryPod(kind schema.GroupVersionKind, name string) error {
	h.t.Helper()
	template, _, err := unstructured.NestedMap(h.get(kind, name).Object, "spec", "template")
	require.NoError(h.t, err)
	var pod corev1.Pod
	require.NoError(h.t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod))
	pod.Namespace, pod.GenerateName = namespace, name+"-"
	return h.admin.Create(context.Background(), &pod, client.DryRunAll)
}

// A second plugin on a node would take the socket from the first, so that a chart of a client is refused where Longhorn's own runs, even
// with the flags that take objects over.
func TestClientsOfARunningLonghornAreNeitherReplacedNorJoined(t *testing.T) {
	h := newHelm(t)
	h.makeNamespace()
	pod := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "own"}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "own", "image": "own"}}}}
	for chart, own := range map[string]struct {
		kind schema.GroupVersionKind
		name string
	}{"csi": {daemonSets, "longhorn-csi-plugin"}, "ui": {deployments, "longhorn-ui"}} {
		object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"template": pod,
			"selector": map[string]any{"matchLabels": map[string]any{"app": "own"}}}}}
		object.SetGroupVersionKind(own.kind)
		object.SetNamespace(namespace)
		object.SetName(own.name)
		require.NoError(t, h.admin.Create(context.Background(), object))
		_, err := h.tryInstall(chart, h.load(chart), nil, func(i *action.Install) { i.TakeOwnership, i.ForceConflicts = true, true })
		require.ErrorContains(t, err, "Longhorn's own", chart)
		require.Equal(t, object.GetUID(), h.get(own.kind, own.name).GetUID())
		h.uninstall(chart)
		require.NoError(t, h.admin.Delete(context.Background(), object))
		h.install(chart, h.load(chart), nil)
		h.upgrade(chart, h.load(chart), nil)
	}
}

func TestAccountsOfTheCSIChartMayWhatTheyNeedAndNoMore(t *testing.T) {
	h := newHelm(t)
	h.makeNamespace()
	h.install("drover", h.load("drover"), onlyDefinitions())
	h.install("csi", h.load("csi"), map[string]any{"secrets": []any{"passphrase"}})
	type right struct {
		account, verb, group, resource, namespace, name string
	}
	may := func(r right) bool {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + namespace + ":drover-csi-" + r.account, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: r.namespace, Verb: r.verb, Group: r.group, Resource: r.resource, Name: r.name}}}
		require.NoError(t, h.admin.Create(context.Background(), review))
		return review.Status.Allowed
	}
	needed := []right{
		{"plugin", "get", "longhorn.io", "settings", namespace, "storage-network"},
		{"plugin", "get", "", "nodes", "", "node-1"},
		{"provisioner", "create", "", "persistentvolumes", "", ""},
		{"provisioner", "get", "", "secrets", namespace, "passphrase"},
		{"provisioner", "update", "coordination.k8s.io", "leases", namespace, "driver-longhorn-io"},
		{"resizer", "patch", "", "persistentvolumeclaims/status", "elsewhere", "claim"},
		{"resizer", "update", "coordination.k8s.io", "leases", namespace, "external-resizer-driver-longhorn-io"},
	}
	require.Eventually(t, func() bool { return may(needed[0]) && may(needed[4]) && may(needed[6]) }, time.Minute, 10*time.Millisecond,
		"RBAC learns of bindings by a watch")
	for _, r := range needed {
		require.True(t, may(r), "%+v", r)
	}
	for _, account := range []string{"plugin", "provisioner", "resizer"} {
		for _, r := range []right{
			{account, "get", "", "secrets", namespace, "longhorn-grpc-tls"},
			{account, "list", "", "secrets", namespace, ""},
			{account, "get", "", "secrets", "kube-system", "passphrase"},
			{account, "patch", "longhorn.io", "volumes", namespace, "vol-1"},
			{account, "update", "coordination.k8s.io", "leases", namespace, "drover-attach-controller"},
			{account, "create", "", "pods", namespace, ""},
			{account, "create", "", "serviceaccounts/token", namespace, ""},
		} {
			require.False(t, may(r), "%+v", r)
		}
	}
	for _, r := range []right{
		{"plugin", "delete", "", "persistentvolumes", "", "pv"},
		{"plugin", "get", "longhorn.io", "settings", "elsewhere", "storage-network"},
		{"resizer", "delete", "", "persistentvolumes", "", "pv"},
		{"plugin", "get", "", "secrets", namespace, "passphrase"},
	} {
		require.False(t, may(r), "%+v", r)
	}
}

// An upgrade of the whole system restarts no pod of the clients, and the other way round.
func TestAClientIsUpgradedAlone(t *testing.T) {
	h := newHelm(t)
	h.install("drover", h.load("drover"), withClients())
	generations := func() map[string]int64 {
		all := map[string]int64{}
		for _, name := range append([]string{"csi-provisioner", "csi-resizer", "longhorn-ui"}, controllers...) {
			all[name] = h.get(workloadOf(name), name).GetGeneration()
		}
		all["longhorn-csi-plugin"] = h.get(daemonSets, "longhorn-csi-plugin").GetGeneration()
		return all
	}
	before := generations()
	h.upgrade("drover", h.withVersion("0.4.0", controllers), withClients())
	after := generations()
	for name, generation := range before {
		require.Equal(t, slices.Contains(controllers, name), after[name] != generation, name)
	}
	values := withClients()
	values["csi"].(map[string]any)["provisioner"] = map[string]any{"tag": "v5.3.1"}
	h.upgrade("drover", h.withVersion("0.4.0", controllers), values)
	for name, generation := range generations() {
		require.Equal(t, name == "csi-provisioner", generation != after[name], name)
	}
}
