package csicontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// pod creates the driver, a claim that is bound to the PersistentVolume, and a pod on the node that uses it.
func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	required := true
	driver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: csi.Driver},
		Spec: storagev1.CSIDriverSpec{AttachRequired: &required}}
	require.NoError(w.t, client.IgnoreAlreadyExists(w.admin.Create(w.t.Context(), driver)))
	class := "longhorn"
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: w.meta("data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeName: w.pv,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	w.create(claim)
	testkit.WaitFor(w.t, w.admin, claim, "a claim that is bound", func(c *corev1.PersistentVolumeClaim) bool {
		return c.Status.Phase == corev1.ClaimBound
	})
	pod := &corev1.Pod{ObjectMeta: w.meta(name), Spec: corev1.PodSpec{
		NodeName: w.node,
		Containers: []corev1.Container{{Name: "main", Image: "none",
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}},
	}}
	w.create(pod)
	return pod
}

// attachmentOf waits for the VolumeAttachment that the attach-detach controller creates.
func (w *world) attachmentOf() *storagev1.VolumeAttachment {
	w.t.Helper()
	var found *storagev1.VolumeAttachment
	require.Eventually(w.t, func() bool {
		var list storagev1.VolumeAttachmentList
		require.NoError(w.t, w.admin.List(w.t.Context(), &list))
		for i := range list.Items {
			if list.Items[i].Spec.NodeName == w.node {
				found = &list.Items[i]
			}
		}
		return found != nil
	}, patience, poll, "Kubernetes never asked")
	return found
}

// A13 with the real kube-controller-manager: a pod on a node gets its volume attached, is deleted, and the volume is
// detached; afterwards nothing of it is left that could not be deleted.
func TestAPodsVolumeIsAttachedAndDetachedForKubernetes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.start()
	pod := w.pod("app")
	va := w.attachmentOf()
	require.Regexp(t, "^csi-[0-9a-f]{64}$", va.Name)
	w.serve(va.Name)
	va = w.reaches(va, "attached", isAttached)
	require.Equal(t, w.node, va.Annotations[csi.NodeIDAnnotation])
	require.Contains(t, va.Finalizers, csi.Finalizer)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}}
	testkit.WaitFor(t, w.admin, node, "the volume in status.volumesAttached", func(n *corev1.Node) bool {
		return len(n.Status.VolumesAttached) == 1
	})

	w.kill(pod)
	w.vacate(va.Name)
	testkit.WaitGone(t, w.admin, va)
	testkit.WaitFor(t, w.admin, node, "nothing in status.volumesAttached", func(n *corev1.Node) bool {
		return len(n.Status.VolumesAttached) == 0
	})
	w.remove(&corev1.PersistentVolumeClaim{ObjectMeta: w.meta("data")})
	w.remove(w.persistentVolume())
	testkit.WaitGone(t, w.admin, w.persistentVolume())
}

// A node that died under a pod keeps its volume in use for Kubernetes until a person declares it out of service; then the
// attachment goes although the volume is still recorded there.
func TestAPodsVolumeIsFreedWhenItsNodeIsDeclaredDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.start()
	pod := w.pod("app")
	va := w.attachmentOf()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}}
	inUse := `{"status":{"volumesInUse":["kubernetes.io/csi/driver.longhorn.io^` + w.vol + `"]}}`
	require.NoError(t, w.admin.Status().Patch(t.Context(), node, client.RawPatch("application/merge-patch+json", []byte(inUse))))
	w.nodeReady(v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
	w.kill(pod)
	require.Never(t, func() bool { return w.now(va).DeletionTimestamp != nil }, time.Second, poll, "the node still uses it")
	w.outOfService()
	w.noTicket(va.Name)
	testkit.WaitGone(t, w.admin, va)
}

// kill deletes a pod at once, since it has no kubelet.
func (w *world) kill(pod *corev1.Pod) {
	w.t.Helper()
	now := int64(0)
	require.NoError(w.t, w.admin.Delete(w.t.Context(), pod, &client.DeleteOptions{GracePeriodSeconds: &now}))
}

// outOfService is a person's declaration that the node is dead.
func (w *world) outOfService() {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}}
	taint := `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`
	require.NoError(w.t, w.admin.Patch(w.t.Context(), node, client.RawPatch("application/merge-patch+json", []byte(taint))))
}
