package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

const (
	waitTimeout = 30 * time.Second
	waitPoll    = testkit.Poll
	finalizer   = "external-attacher/driver-longhorn-io"
	trusted     = "Y2VydGlmaWNhdGU="
)

// checkPod is as upgrade-controller creates it.
const checkPod = `
metadata:
  name: upgrade-image-check-1
  labels: {longhorn.io/component: upgrade-image-check}
spec:
  nodeName: node-1
  automountServiceAccountToken: false
  restartPolicy: Never
  containers:
  - name: check
    image: im:2
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
      seccompProfile: {type: RuntimeDefault}
`

// thief is a client with the token of a binary, on a real API server.
type thief struct {
	t         *testing.T
	namespace string
	admin     client.WithWatch
	client    client.Client
	// dry stores nothing.
	dry bool
}

func steal(t *testing.T, binary string) *thief {
	t.Helper()
	namespace := testkit.Namespace(t)
	return &thief{t: t, namespace: namespace, admin: testkit.Admin(t),
		client: testkit.Client(t, testkit.BinaryIdentity(t, namespace, binary))}
}

// make creates an object as an administrator, and deletes it at the end of the test.
func (th *thief) make(object client.Object) {
	th.t.Helper()
	require.NoError(th.t, th.admin.Create(th.t.Context(), object))
	th.t.Cleanup(func() {
		ctx := context.Background()
		_ = th.admin.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		require.NoError(th.t, client.IgnoreNotFound(th.admin.Delete(ctx, object)))
	})
}

// merge is a JSON merge patch written as YAML, with the stolen token.
func (th *thief) merge(object client.Object, patch string) error {
	th.t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(th.t, err)
	return th.patch(object, types.MergePatchType, string(raw))
}

func (th *thief) patch(object client.Object, kind types.PatchType, body string) error {
	var options []client.PatchOption
	if th.dry {
		options = append(options, client.DryRunAll)
	}
	return th.client.Patch(th.t.Context(), object.DeepCopyObject().(client.Object), client.RawPatch(kind, []byte(body)), options...)
}

// inForce waits until the API server, which receives policies by a watch, refuses. Nothing is stored before: the requests do not change
// existing objects.
func (th *thief) inForce(try func() error, message string) {
	th.t.Helper()
	th.dry = true
	defer func() { th.dry = false }()
	require.Eventually(th.t, func() bool { return apierrors.IsForbidden(try()) }, waitTimeout, waitPoll)
	require.ErrorContains(th.t, try(), message)
}

// refused checks that a policy refused the request with the message.
func (th *thief) refused(err error, message string) {
	th.t.Helper()
	require.True(th.t, apierrors.IsForbidden(err), "%v", err)
	require.ErrorContains(th.t, err, message)
}

func volumeOf(name, driver string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"kubernetes.io/pv-protection"}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver,
				VolumeHandle: name}},
		}}
}

func TestAStolenTokenOfAttachControllerMakesNoPersistentVolumeReclaimItsData(t *testing.T) {
	th := steal(t, "attach-controller")
	ours, other := volumeOf("tokens-ours", "driver.longhorn.io"), volumeOf("tokens-other", "disk.example.com")
	th.make(ours)
	th.make(other)
	th.inForce(func() error { return th.merge(ours, "spec: {persistentVolumeReclaimPolicy: Delete}") },
		"never changes the spec of persistentvolumes")
	th.refused(th.merge(ours, "metadata: {labels: {a: b}}"), "labels or owners")
	th.refused(th.merge(ours, "metadata: {annotations: {a: b}}"), "changes no annotation of tokens-ours")
	th.refused(th.merge(ours, "metadata: {finalizers: null}"), "changes no finalizer of tokens-ours but "+finalizer)
	th.refused(th.merge(other, "metadata: {finalizers: [kubernetes.io/pv-protection, "+finalizer+"]}"),
		`tokens-other belongs to "disk.example.com"`)
	require.NoError(t, th.merge(ours, "metadata: {finalizers: [kubernetes.io/pv-protection, "+finalizer+"]}"))
	require.NoError(t, th.merge(ours, "metadata: {finalizers: [kubernetes.io/pv-protection]}"))
}

func TestAStolenTokenOfAttachControllerTouchesNoAttachmentOfAnotherDriver(t *testing.T) {
	th := steal(t, "attach-controller")
	attachment := func(name, driver string) *storagev1.VolumeAttachment {
		return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"mine": "x"}},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: "node-1",
				Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}}
	}
	ours, other := attachment("tokens-ours", "driver.longhorn.io"), attachment("tokens-other", "disk.example.com")
	th.make(ours)
	th.make(other)
	attached := func(a *storagev1.VolumeAttachment) error {
		var options []client.SubResourcePatchOption
		if th.dry {
			options = append(options, client.DryRunAll)
		}
		return th.client.Status().Patch(t.Context(), a.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte(`{"status":{"attached":true}}`)), options...)
	}
	th.inForce(func() error { return attached(other) }, `tokens-other belongs to "disk.example.com"`)
	th.refused(th.merge(other, "metadata: {annotations: {csi.alpha.kubernetes.io/node-id: node-1}}"), "belongs to")
	th.refused(th.merge(ours, "metadata: {annotations: {mine: null}}"), "but csi.alpha.kubernetes.io/node-id")
	require.NoError(t, th.merge(ours, "metadata: {finalizers: ["+finalizer+"], annotations: {csi.alpha.kubernetes.io/node-id: node-1}}"))
	require.NoError(t, attached(ours))
	require.NoError(t, th.merge(ours, "metadata: {finalizers: null}"))
}

// A24: attach-controller deletes pods of all namespaces and VolumeAttachments, but only such as it has a reason to.
func TestAStolenTokenOfAttachControllerDeletesOnlyObjectsThatAreRecreated(t *testing.T) {
	th := steal(t, "attach-controller")
	th.make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "default"}})
	yes := true
	pod := func(name string, controlled bool, claim string) *corev1.Pod {
		p := &corev1.Pod{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(checkPod), p))
		p.Namespace, p.Name, p.Labels = th.namespace, name, nil
		if controlled {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "s", UID: "s", Controller: &yes}}
		}
		if claim != "" {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		}
		th.make(p)
		return p
	}
	attachment := func(name, driver string) *storagev1.VolumeAttachment {
		va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: storagev1.VolumeAttachmentSpec{Attacher: driver, NodeName: "node-1",
				Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}}
		th.make(va)
		return va
	}
	end := func(object client.Object) error {
		var options []client.DeleteOption
		if th.dry {
			options = append(options, client.DryRunAll)
		}
		return th.client.Delete(t.Context(), object.DeepCopyObject().(client.Object), options...)
	}
	const only = "only pods that use a claim and have a controller"
	bare := pod("bare", false, "data")
	th.inForce(func() error { return end(bare) }, only)
	th.refused(end(pod("stateless", true, "")), only)
	th.refused(end(attachment("tokens-other", "disk.example.com")), "tokens-other is another driver's")
	require.NoError(t, end(pod("web-0", true, "data")))
	require.NoError(t, end(attachment("tokens-ours", "driver.longhorn.io")))
}

func TestAStolenTokenOfSnapshotControllerWidensNoWebhook(t *testing.T) {
	const name = "drover-snapshot-controller"
	th := steal(t, "snapshot-controller")
	effects, url, ignore := admissionv1.SideEffectClassNone, "https://127.0.0.1:1/x", admissionv1.Ignore
	nowhere := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "nowhere"}}
	rules := []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule: admissionv1.Rule{APIGroups: []string{"longhorn.io"}, APIVersions: []string{"v1beta2"}, Resources: []string{"snapshots"}}}}
	config := admissionv1.WebhookClientConfig{URL: &url}
	mutating := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "a.drover.dev", ClientConfig: config, SideEffects: &effects, FailurePolicy: &ignore, NamespaceSelector: nowhere,
			Rules:                   rules,
			AdmissionReviewVersions: []string{"v1"}}}}
	validating := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "b.drover.dev", ClientConfig: config, SideEffects: &effects, FailurePolicy: &ignore, NamespaceSelector: nowhere,
			Rules:                   rules,
			AdmissionReviewVersions: []string{"v1"}}}}
	for _, object := range []client.Object{mutating, validating} {
		th.make(object)
		change := func(body string) error {
			return th.patch(object, types.JSONPatchType, body)
		}
		const only = "changes nothing but caBundle in the webhooks of drover-snapshot-controller"
		th.inForce(func() error { return change(`[{"op":"replace","path":"/webhooks/0/rules/0/resources","value":["*"]}]`) }, only)
		for _, body := range []string{
			`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://thief.example/x"}]`,
			`[{"op":"remove","path":"/webhooks/0/namespaceSelector"}]`,
			`[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Fail"}]`,
			`[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"a","expression":"true"}]}]`,
			`[{"op":"replace","path":"/webhooks/0/name","value":"c.drover.dev"}]`,
			`[{"op":"add","path":"/webhooks/1","value":{"name":"c.drover.dev","clientConfig":{"url":"https://thief.example/x"},"sideEffects":"None","admissionReviewVersions":["v1"]}}]`,
			`[{"op":"remove","path":"/webhooks/0"}]`,
		} {
			th.refused(change(body), only)
		}
		th.refused(change(`[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`), "changes no metadata")
		require.NoError(t, change(`[{"op":"test","path":"/webhooks/0/name","value":"`+
			map[bool]string{true: "a", false: "b"}[object == client.Object(mutating)]+
			`.drover.dev"},{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":"`+trusted+`"}]`))
	}
}

func TestAStolenTokenOfUpgradeControllerRunsNothingOnANodeButTrue(t *testing.T) {
	th := steal(t, "upgrade-controller")
	th.make(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "default"}})
	pod := func(change func(*corev1.Pod)) error {
		p := &corev1.Pod{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(checkPod), p))
		p.Namespace = th.namespace
		p.Spec.Containers[0].Command, p.Spec.Containers[0].Args = managerimage.CheckCommand(), managerimage.Wrapper.CheckArguments()
		change(p)
		return th.client.Create(t.Context(), p, client.DryRunAll)
	}
	yes := true
	th.inForce(func() error { return pod(func(p *corev1.Pod) { p.Labels = nil }) }, "longhorn.io/component=upgrade-image-check")
	for message, changes := range map[string][]func(*corev1.Pod){
		"no token, no volume and nothing of its host": {
			func(p *corev1.Pod) { p.Spec.AutomountServiceAccountToken = nil },
			func(p *corev1.Pod) { p.Spec.ServiceAccountName = "im-monitor" },
			func(p *corev1.Pod) { p.Spec.HostPID = true },
			func(p *corev1.Pod) { p.Spec.HostNetwork = true },
			func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "host",
					VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
			},
		},
		"one container, which runs the check of an image": {
			func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"true"} },
			func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"sh", "-c", "true"} },
			func(p *corev1.Pod) { p.Spec.Containers[0].Command[2] += "; id" },
			func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"instance-manager:--enable-spdk", "$(id)"} },
			func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"../../../etc/shadow:--x"} },
			func(p *corev1.Pod) { p.Spec.Containers[0].Command = nil },
			func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"x"} },
			func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LD_PRELOAD", Value: "/x"}} },
			func(p *corev1.Pod) {
				p.Spec.InitContainers = []corev1.Container{p.Spec.Containers[0]}
				p.Spec.InitContainers[0].Name = "first"
			},
		},
		"takes it for its own, no owner and no finalizer": {
			func(p *corev1.Pod) { p.Labels["app"] = "longhorn-manager" },
			func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", UID: "u"}}
			},
		},
		"must have no system- priorityClassName, runtimeClassName": {
			func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" },
			func(p *corev1.Pod) {
				p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
					HTTPGet: &corev1.HTTPGetAction{Host: "169.254.169.254", Port: intstr.FromInt32(80)}}}
			},
			func(p *corev1.Pod) {
				p.Spec.Containers[0].SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t"}
			},
		},
		"is not root, and cannot become it": {
			func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext = nil },
			func(p *corev1.Pod) {
				p.Spec.Containers[0].SecurityContext.Privileged = &yes
				p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
			},
			func(p *corev1.Pod) {
				p.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
			},
		},
	} {
		for _, change := range changes {
			th.refused(pod(change), message)
		}
	}
	require.NoError(t, pod(func(*corev1.Pod) {}))

	manager := &corev1.Pod{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(checkPod), manager))
	manager.Namespace, manager.Name, manager.Labels = th.namespace, "im-1",
		map[string]string{v1beta2.LabelComponent: v1beta2.ComponentInstanceManager}
	th.make(manager)
	th.refused(th.client.Delete(t.Context(), manager.DeepCopy()), "longhorn.io/component=upgrade-image-check")
}

func TestAStolenTokenOfUpgradeControllerChangesSingleFields(t *testing.T) {
	th := steal(t, "upgrade-controller")
	meta := metav1.ObjectMeta{Namespace: th.namespace, Name: "a", Finalizers: []string{v1beta2.Finalizer}}
	for field, object := range map[string]client.Object{
		"lookRequestedAt: '2026-01-01T00:00:00Z'": &v1beta2.Engine{ObjectMeta: meta,
			Spec: v1beta2.EngineSpec{VolumeName: "a", DataEngine: v1beta2.DataEngineV2, NodeID: "node-1"}},
		"upgradeRequested: true": &v1beta2.Node{ObjectMeta: meta, Spec: v1beta2.NodeSpec{AllowScheduling: true}},
		"targetNodeID: node-2": &v1beta2.Volume{ObjectMeta: meta,
			Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, NodeID: "node-1", Size: 1 << 30, NumberOfReplicas: 3}},
	} {
		t.Run(field, func(t *testing.T) {
			th := &thief{t: t, namespace: th.namespace, admin: th.admin, client: th.client}
			th.make(object)
			th.inForce(func() error { return th.merge(object, "spec: {nodeID: node-9, allowScheduling: false}") },
				"upgrade-controller changes nothing but")
			th.refused(th.merge(object, "metadata: {finalizers: null}"), "changes no metadata")
			th.refused(th.merge(object, "metadata: {labels: {a: b}}"), "changes no metadata")
			require.NoError(t, th.merge(object, "spec: {"+field+"}"))
		})
	}
}

// X5: the image of privileged pods is a Setting, and orphan-controller migrates Settings.
func TestAStolenTokenOfOrphanControllerWritesTheTwoSettingsOfOrphansOnly(t *testing.T) {
	th := steal(t, "orphan-controller")
	image := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "default-instance-manager-image"},
		Value: "good:1"}
	th.make(image)
	require.True(t, apierrors.IsForbidden(th.merge(image, "value: evil:1")))
	require.True(t, apierrors.IsForbidden(th.client.Delete(t.Context(), image.DeepCopy())))
	create := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "v2-data-engine"}, Value: "true"}
	require.True(t, apierrors.IsForbidden(th.client.Create(t.Context(), create)))
	ours := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "orphan-resource-auto-deletion"},
		Value: "instance"}
	th.make(ours)
	require.NoError(t, th.merge(ours, "value: ''"))
	require.True(t, apierrors.IsForbidden(th.client.Delete(t.Context(), ours.DeepCopy())))
}

// The status of a volume decides whether data is copied into it: snapshot-controller writes the last backup there, and nothing else.
func TestAStolenTokenOfSnapshotControllerChangesOnlyTheLastBackupOfVolumes(t *testing.T) {
	th := steal(t, "snapshot-controller")
	volume := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Namespace: th.namespace, Name: "a"},
		Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV2, Size: 1 << 30, NumberOfReplicas: 3, DataSource: "vol://b"}}
	th.make(volume)
	message := func(status string) error {
		var options []client.SubResourcePatchOption
		if th.dry {
			options = append(options, client.DryRunAll)
		}
		return th.client.Status().Patch(t.Context(), volume.DeepCopy(),
			client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)), options...)
	}
	th.inForce(func() error { return message(`{"cloneStatus":{"state":"failed"}}`) }, "nothing but lastBackup and lastBackupAt")
	th.refused(message(`{"robustness":"healthy"}`), "nothing but lastBackup")
	require.NoError(t, message(`{"lastBackup":"backup-1","lastBackupAt":"2026-01-01T00:00:00Z"}`))
}

// L2: a VolumeSnapshotContent leads to data of its driver. The common snapshot-controller, whose account has the same name, writes contents
// of all drivers.
func TestAStolenTokenOfSnapshotControllerChangesNoSnapshotOfAnotherDriver(t *testing.T) {
	found, err := cluster.LocateSnapshotter(t.Context(), os.Stderr)
	require.NoError(t, err)
	require.NoError(t, testkit.Cluster().InstallCRDs(t.Context(), found.CRDs))
	const (
		protected = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"
		mark      = "snapshot.storage.kubernetes.io/volumesnapshot-being-created"
	)
	th := steal(t, "snapshot-controller")
	content := func(name, driver string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotContent",
			"metadata": map[string]any{"name": name, "finalizers": []any{protected, "example.com/mine"}, "annotations": map[string]any{"mine": "x"}},
			"spec": map[string]any{"driver": driver, "deletionPolicy": "Retain", "source": map[string]any{"volumeHandle": "vol-1"},
				"volumeSnapshotRef": map[string]any{"name": "s", "namespace": th.namespace}},
		}}
		th.make(o)
		return o
	}
	ours, other := content("tokens-ours", "driver.longhorn.io"), content("tokens-other", "disk.example.com")
	report := func(o *unstructured.Unstructured, status string) error {
		return th.client.Status().Patch(t.Context(), o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)))
	}
	const marked = "metadata: {annotations: {" + mark + ": 'yes'}}"
	th.inForce(func() error { return th.merge(other, marked) }, `tokens-other belongs to "disk.example.com"`)
	th.refused(report(other, `{"readyToUse":true}`), "belongs to")
	th.refused(th.merge(ours, "spec: {deletionPolicy: Delete}"), "never changes the spec")
	th.refused(th.merge(ours, "metadata: {annotations: {mine: null}}"), "changes no metadata")
	th.refused(th.merge(ours, "metadata: {annotations: {yours: ''}}"), "changes no metadata")
	th.refused(th.merge(ours, "metadata: {labels: {a: b}}"), "changes no metadata")
	th.refused(th.merge(ours, "metadata: {finalizers: [example.com/mine]}"), "only while it is being deleted")
	th.refused(report(ours, `{"volumeGroupSnapshotHandle":"group"}`), "changes nothing but snapshotHandle, readyToUse")
	require.NoError(t, th.merge(ours, marked))
	require.NoError(t, report(ours, `{"readyToUse":true,"snapshotHandle":"snap://vol-1/s","restoreSize":1,"creationTime":1}`))
	require.NoError(t, th.merge(ours, "metadata: {annotations: {"+mark+": null}}"))
	require.NoError(t, th.admin.Delete(t.Context(), ours))
	th.refused(th.merge(ours, "metadata: {finalizers: ["+protected+"]}"), "removes only "+protected)
	require.NoError(t, th.merge(ours, "metadata: {finalizers: [example.com/mine]}"))

	rules := []rbacv1.PolicyRule{{APIGroups: []string{"snapshot.storage.k8s.io"},
		Resources: []string{"volumesnapshotcontents"}, Verbs: []string{"get", "create", "patch", "delete"}}}
	kubeSystem := testkit.Namespace(t)
	access := testkit.Identity(t, kubeSystem, "snapshot-controller", nil)
	testkit.GrantCluster(t, kubeSystem, "snapshot-controller", rules)
	common := &thief{t: t, namespace: kubeSystem, admin: th.admin, client: testkit.Client(t, access)}
	require.NoError(t, common.merge(other, "metadata: {finalizers: null}"))
	require.NoError(t, common.merge(other, "spec: {deletionPolicy: Delete}"))
	require.NoError(t, common.client.Delete(t.Context(), other.DeepCopy()))
}
