package ticketcontroller

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

// pod creates the Kubernetes objects of a volume that a pod uses, and returns the name of its VolumeAttachment.
func (w *world) pod(handle, driver, node string) string {
	w.t.Helper()
	name := handle + "-" + w.namespace + "-" + node
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: handle}},
	}}
	w.create(pv)
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
	}}
	w.create(a)
	return a.Name
}

// A14: what is read of an older cluster, as the controller's own identity, and what it comes to.
func TestTakeOverReadsTheHolderOfAVolume(t *testing.T) {
	w := newWorld(t)
	older := func(name, node string) *v1beta2.Volume {
		v := w.volume(name, nil)
		w.attached(v, node)
		w.delete(&v1beta2.VolumeAttachment{ObjectMeta: w.meta(name)})
		found := &v1beta2.Volume{}
		require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(v), found))
		return found
	}
	pods, byHand := older("of-a-pod", "node-1"), older("by-hand", "node-2")
	mine := w.pod("of-a-pod", v1beta2.CSIDriver, "node-1")
	w.pod("by-hand", "another.driver", "node-2")

	p := w.start()
	require.Eventually(t, func() bool {
		_, err := TakeOver(t.Context(), p.Client, pods, nil)
		return err == nil
	}, patience, poll, "the caches were never filled")
	ids := func(v *v1beta2.Volume, a *v1beta2.VolumeAttachment) []string {
		tickets, err := TakeOver(t.Context(), p.Client, v, a)
		require.NoError(t, err)
		return slices.Sorted(maps.Keys(tickets))
	}
	require.Equal(t, []string{mine}, ids(pods, nil))
	require.Equal(t, []string{ticket.UITicket}, ids(byHand, nil), "another driver's handle is another volume's")
	require.Equal(t, []string{ticket.UITicket}, ids(byHand, &v1beta2.VolumeAttachment{}),
		"a VolumeAttachment without answers does not count")
	answered := &v1beta2.VolumeAttachment{Status: v1beta2.VolumeAttachmentStatus{ObservedGeneration: 1}}
	require.Empty(t, ids(byHand, answered))
}
