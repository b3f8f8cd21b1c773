//go:build !fast

package main

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	leases      = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}
	secrets     = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	webhooks    = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"}
	definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	volumes     = schema.GroupVersionKind{Group: "longhorn.io", Version: "v1beta2", Kind: "Volume"}
)

// workloadOf returns the kind by which a controller runs.
func workloadOf(controller string) schema.GroupVersionKind {
	if controller == diskController {
		return daemonSets
	}
	return deployments
}

// diskController runs on each node, as root, with directories of the node.
const diskController = "disk-controller"

// keptKind matches what must outlast an uninstallation: definitions with their policies, what the API server makes of them, and objects of
// people.
var keptKind = regexp.MustCompile(`^(apiextensions\.k8s\.io/CustomResourceDefinition//[a-z]+\.longhorn\.io|apiregistration\.k8s\.io/APIService//v1beta2\.longhorn\.io|` +
	`admissionregistration\.k8s\.io/ValidatingAdmissionPolicy(Binding)?//[a-z-]+\.longhorn\.io|` +
	`longhorn\.io/Volume/longhorn-system/kept)$`)

func TestTheWholeSystemIsInstalledUpgradedAndUninstalled(t *testing.T) {
	h := newHelm(t)
	h.makeNamespace()
	before := h.everything()
	installed := h.install("drover", h.load("drover"), nil)
	count := kinds(h.accepted(installed))
	t.Logf("objects accepted: %v", count)
	require.Equal(t, 20, count["CustomResourceDefinition"])
	require.Equal(t, 6, count["Deployment"])
	require.Equal(t, 1, count["DaemonSet"])
	h.writeAsControllersDo()

	next := h.withVersion("0.2.0", charts)
	next.Metadata.Version = "0.2.0"
	h.accepted(h.upgrade("drover", next, nil))
	for _, controller := range controllers {
		containers, _, err := unstructured.NestedSlice(h.get(workloadOf(controller), controller).Object, "spec", "template", "spec", "containers")
		require.NoError(t, err)
		require.Equal(t, "drover/"+controller+":v0.2.0", containers[0].(map[string]any)["image"])
	}
	h.whatControllersWroteIsThere()

	h.uninstall("drover")
	for left := range h.everything() {
		require.True(t, before[left] || keptKind.MatchString(left), "%s is left", left)
	}
	h.get(volumes, "kept")
	again := h.install("drover", h.load("drover"), nil)
	require.Equal(t, count, kinds(h.accepted(again)))
}

func (h *helm) makeNamespace() {
	h.t.Helper()
	err := h.admin.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	require.NoError(h.t, client.IgnoreAlreadyExists(err))
}

// writeAsControllersDo changes what controllers own in objects of the charts, and creates a volume.
func (h *helm) writeAsControllersDo() {
	h.t.Helper()
	for kind, patch := range map[schema.GroupVersionKind]struct{ name, patch string }{
		leases:   {"drover-im-monitor", `{"spec":{"holderIdentity":"a-pod","leaseDurationSeconds":15}}`},
		secrets:  {"snapshot-controller-webhook", `{"data":{"tls.crt":"YQ=="}}`},
		webhooks: {"drover-snapshot-controller", ``},
	} {
		object := h.get(kind, patch.name)
		if kind == webhooks {
			hooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
			require.NoError(h.t, err)
			require.NoError(h.t, unstructured.SetNestedField(hooks[0].(map[string]any), caBundle, "clientConfig", "caBundle"))
			require.NoError(h.t, unstructured.SetNestedSlice(object.Object, hooks, "webhooks"))
			require.NoError(h.t, h.admin.Update(context.Background(), object, client.FieldOwner("snapshot-controller")))
			continue
		}
		require.NoError(h.t, h.admin.Patch(context.Background(), object, client.RawPatch("application/merge-patch+json", []byte(patch.patch))))
	}
	volume := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": "1073741824", "numberOfReplicas": int64(1),
		"frontend": "blockdev", "dataEngine": "v1"}}}
	volume.SetGroupVersionKind(volumes)
	volume.SetNamespace(namespace)
	volume.SetName("kept")
	require.NoError(h.t, client.IgnoreAlreadyExists(h.admin.Create(context.Background(), volume)))
}

// caBundle is a certificate, which the API server wants to be one.
const caBundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"

func (h *helm) whatControllersWroteIsThere() {
	h.t.Helper()
	holder, _, err := unstructured.NestedString(h.get(leases, "drover-im-monitor").Object, "spec", "holderIdentity")
	require.NoError(h.t, err)
	require.Equal(h.t, "a-pod", holder)
	data, _, err := unstructured.NestedString(h.get(secrets, "snapshot-controller-webhook").Object, "data", "tls.crt")
	require.NoError(h.t, err)
	require.Equal(h.t, "YQ==", data)
	hooks, _, err := unstructured.NestedSlice(h.get(webhooks, "drover-snapshot-controller").Object, "webhooks")
	require.NoError(h.t, err)
	require.Equal(h.t, caBundle, hooks[0].(map[string]any)["clientConfig"].(map[string]any)["caBundle"])
	h.get(volumes, "kept")
}

// A rollout of one controller restarts no process of another one.
func TestOneControllerIsUpgradedAlone(t *testing.T) {
	h := newHelm(t)
	h.install("drover", h.load("drover"), nil)
	for i, changed := range controllers {
		before := h.templates()
		h.upgrade("drover", h.withVersion("0.3.0", controllers[:i+1]), nil)
		after := h.templates()
		for _, controller := range controllers {
			if controller == changed {
				require.NotEqual(t, before[controller], after[controller])
				continue
			}
			require.Equal(t, before[controller], after[controller], "%s changed with %s", controller, changed)
		}
	}
}

// withVersion returns the whole chart with another version of some of its parts.
func (h *helm) withVersion(version string, parts []string) *chart.Chart {
	h.t.Helper()
	whole := h.load("drover")
	for _, part := range whole.Dependencies() {
		if slices.Contains(parts, part.Name()) {
			part.Metadata.Version, part.Metadata.AppVersion = version, version
		}
	}
	for _, dependency := range whole.Metadata.Dependencies {
		if slices.Contains(parts, dependency.Name) {
			dependency.Version = version
		}
	}
	return whole
}

// templates returns the pod template of each controller as the API server stores it.
func (h *helm) templates() map[string]string {
	h.t.Helper()
	byName := map[string]string{}
	for _, controller := range controllers {
		template, _, err := unstructured.NestedMap(h.get(workloadOf(controller), controller).Object, "spec", "template")
		require.NoError(h.t, err)
		text, err := json.Marshal(template)
		require.NoError(h.t, err)
		byName[controller] = string(text)
	}
	return byName
}

// Each controller is also a release of its own, beside the release of the definitions.
func TestEveryChartIsInstalledByItselfWithAllValues(t *testing.T) {
	h := newHelm(t)
	h.applyFile("testdata/monitoring.yaml")
	h.applyFile("testdata/cert-manager.yaml")
	h.install("drover", h.load("drover"), onlyDefinitions())
	for _, controller := range controllers {
		count := kinds(h.accepted(h.install(controller, h.load(controller), allValues(t, controller))))
		t.Logf("%s: objects accepted: %v", controller, count)
		require.Equal(t, 1, count["ServiceMonitor"])
		require.Equal(t, 1, count["PrometheusRule"])
		require.Equal(t, 1, count["ConfigMap"], "its dashboard")
	}
	for _, controller := range controllers {
		h.uninstall(controller)
	}
	for left := range h.everything() {
		for _, controller := range controllers {
			require.NotContains(t, left, "drover-"+controller)
			require.False(t, strings.HasSuffix(left, "/"+controller), left)
		}
	}
}

func onlyDefinitions() map[string]any {
	values := map[string]any{}
	for _, controller := range controllers {
		values[controller] = map[string]any{"enabled": false}
	}
	return values
}

func (h *helm) applyFile(path string) {
	h.t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(h.t, err)
	for _, object := range objects(h.t, map[string]string{path: string(text)}) {
		require.NoError(h.t, client.IgnoreAlreadyExists(h.admin.Create(context.Background(), object)))
	}
}

// Longhorn's chart has its own definitions in the cluster: they are taken over on request only.
func TestDefinitionsOfOthersAreTakenOver(t *testing.T) {
	h := newHelm(t)
	h.install("drover", h.load("drover"), onlyDefinitions())
	h.uninstall("drover")
	others := h.get(definitions, "volumes.longhorn.io")
	others.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "others"})
	others.SetAnnotations(nil)
	require.NoError(t, unstructured.SetNestedStringSlice(others.Object, []string{"others"}, "spec", "names", "categories"))
	require.NoError(t, h.admin.Update(context.Background(), others, client.FieldOwner("others")))

	_, err := h.tryInstall("drover", h.load("drover"), onlyDefinitions(), func(*action.Install) {})
	require.ErrorContains(t, err, "volumes.longhorn.io")
	h.uninstall("drover")
	_, err = h.tryInstall("drover", h.load("drover"), onlyDefinitions(), func(i *action.Install) { i.TakeOwnership = true })
	require.ErrorContains(t, err, "conflict")
	h.uninstall("drover")
	_, err = h.tryInstall("drover", h.load("drover"), onlyDefinitions(), func(i *action.Install) {
		i.TakeOwnership, i.ForceConflicts = true,
			true
	})
	require.NoError(t, err)
	t.Cleanup(func() { h.uninstall("drover") })
	require.Equal(t, "1", h.get(definitions, "volumes.longhorn.io").GetLabels()["drover.dev/contract"])
}

// Where a csi-attacher or csi-snapshotter runs, its lease is there, and stays its own.
func TestALeaseOfASidecarIsNeitherTakenNorDeleted(t *testing.T) {
	h := newHelm(t)
	h.makeNamespace()
	h.install("drover", h.load("drover"), onlyDefinitions())
	for controller, name := range map[string]string{
		"attach-controller":   "external-attacher-leader-driver-longhorn-io",
		"snapshot-controller": "external-snapshotter-leader-driver-longhorn-io",
	} {
		lease := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"holderIdentity": "a-sidecar"}}}
		lease.SetGroupVersionKind(leases)
		lease.SetNamespace(namespace)
		lease.SetName(name)
		require.NoError(t, h.admin.Create(context.Background(), lease))
		h.install(controller, h.load(controller), nil)
		h.upgrade(controller, h.load(controller), nil)
		h.uninstall(controller)
		require.Equal(t, lease.GetUID(), h.get(leases, name).GetUID())
		require.NoError(t, h.admin.Delete(context.Background(), lease))

		h.install(controller, h.load(controller), nil)
		made := h.get(leases, name)
		h.upgrade(controller, h.load(controller), nil)
		require.Equal(t, made.GetUID(), h.get(leases, name).GetUID(), "an upgrade keeps the lease that the release made")
		h.uninstall(controller)
		err := h.admin.Get(context.Background(), client.ObjectKeyFromObject(made), made)
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
}

// The namespace has to allow privileged pods only because of instance managers: the controllers need nothing of that.
func TestPodsOfControllersAreAcceptedWherePodsAreRestricted(t *testing.T) {
	h := newHelm(t)
	h.install("drover", h.load("drover"), nil)
	h.enforce("restricted")
	t.Cleanup(func() { h.enforce("privileged") })
	for _, controller := range controllers {
		var pod corev1.Pod
		template, _, err := unstructured.NestedMap(h.get(workloadOf(controller), controller).Object, "spec", "template")
		require.NoError(t, err)
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod))
		pod.Namespace, pod.GenerateName = namespace, controller+"-"
		if controller == diskController || controller == "snapshot-controller" { // they see directories of their node, the latter read-only
			err := h.admin.Create(context.Background(), pod.DeepCopy(), client.DryRunAll)
			require.ErrorContains(t, err, "hostPath")
			require.NotContains(t, err.Error(), "capabilities")
			require.NotContains(t, err.Error(), "allowPrivilegeEscalation")
			continue
		}
		require.NoError(t, h.admin.Create(context.Background(), pod.DeepCopy(), client.DryRunAll), controller)

		privileged := true
		pod.Spec.Containers[0].SecurityContext.Privileged = &privileged
		pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = &privileged
		err = h.admin.Create(context.Background(), pod.DeepCopy(), client.DryRunAll)
		require.ErrorContains(t, err, "PodSecurity", "the namespace restricts nothing")
	}
}

func (h *helm) enforce(level string) {
	h.t.Helper()
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"` + level + `"}}}`)
	require.NoError(h.t, h.admin.Patch(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		client.RawPatch("application/merge-patch+json", patch)))
}

func TestRolesForPeopleAggregateAndReachNoNode(t *testing.T) {
	h := newHelm(t)
	values := onlyDefinitions()
	values["crds"] = map[string]any{"roles": map[string]any{"aggregate": true}}
	h.install("drover", h.load("drover"), values)
	for role, target := range map[string]string{"drover-view": "view", "drover-operate": "edit"} {
		var own, kubernetes rbacv1.ClusterRole
		require.NoError(t, h.admin.Get(context.Background(), client.ObjectKey{Name: role}, &own))
		require.NoError(t, h.admin.Get(context.Background(), client.ObjectKey{Name: target}, &kubernetes))
		selector, err := metav1.LabelSelectorAsSelector(&kubernetes.AggregationRule.ClusterRoleSelectors[0])
		require.NoError(t, err)
		require.True(t, selector.Matches(labels.Set(own.Labels)), "%s has not the labels that %s aggregates: %s", role, target, selector)
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: role}}}
		require.NoError(t, h.admin.Create(context.Background(), binding))
		t.Cleanup(func() { require.NoError(t, h.admin.Delete(context.Background(), binding)) })
	}
	require.Eventually(t, func() bool {
		return h.may("drover-operate", "delete", "orphans") && h.may("drover-view", "list", "volumes")
	},
		time.Minute, 10*time.Millisecond, "RBAC learns of bindings by a watch")
	for _, c := range []struct{ verb, resource string }{
		{"patch", "settings"}, {"patch", "nodes"}, {"create", "instancemanagers"}, {"patch", "engines"}, {"patch", "replicas"}, {"patch",
			"backuptargets"},
		{"delete", "volumes"},
	} {
		require.False(t, h.may("drover-operate", c.verb, c.resource), c)
		require.False(t, h.may("drover-view", c.verb, c.resource), c)
	}
	require.True(t, h.may("drover-operate", "patch", "volumeattachments"))
	require.False(t, h.may("drover-view", "delete", "orphans"))
}

// may reports whether RBAC allows it to a user.
func (h *helm) may(user, verb, resource string) bool {
	h.t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: "longhorn.io", Resource: resource}}}
	require.NoError(h.t, h.admin.Create(context.Background(), review))
	return review.Status.Allowed
}
