package csicontroller

import (
	"strings"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

// cluster creates the Kubernetes objects that precede a pod: a node with the driver on it, and a PersistentVolume.
func (w *world) cluster() {
	w.t.Helper()
	w.create(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node,
			Annotations: map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: w.node},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csi.Driver, NodeID: w.node}}}},
		w.persistentVolume(),
	)
}

func (w *world) persistentVolume() *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.pv}}
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	pv.Spec.StorageClassName = "longhorn"
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: csi.Driver, VolumeHandle: w.vol, FSType: "ext4"}
	return pv
}

// longhorn creates Longhorn's objects: the node, and the volume with its VolumeAttachment.
func (w *world) longhorn() {
	w.t.Helper()
	w.create(
		&v1beta2.Node{ObjectMeta: w.meta(w.node)},
		&v1beta2.Volume{ObjectMeta: w.meta(w.vol), Spec: v1beta2.VolumeSpec{Size: 1 << 30}},
		&v1beta2.VolumeAttachment{ObjectMeta: w.meta(w.vol), Spec: v1beta2.VolumeAttachmentSpec{Volume: w.vol}},
	)
	w.nodeReady(v1beta2.ConditionTrue, v1beta2.ReasonNodeReady)
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetached})
}

func (w *world) nodeReady(s v1beta2.ConditionStatus, reason string) {
	w.t.Helper()
	conditions := status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.NodeReady, Status: s, Reason: reason}})
	require.NoError(w.t, status.Apply(w.t.Context(), w.admin, &v1beta2.Node{ObjectMeta: w.meta(w.node)}, "im-monitor",
		map[string]any{"conditions": conditions}))
}

func (w *world) volumeStatus(fields map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}, fields))
}

// asks creates a VolumeAttachment as the attach-detach controller does.
func (w *world) asks() *storagev1.VolumeAttachment {
	w.t.Helper()
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: w.attached}}
	va.Spec = storagev1.VolumeAttachmentSpec{Attacher: csi.Driver, NodeName: w.node,
		Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &w.pv}}
	w.create(va)
	return va
}

func (w *world) remove(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Delete(w.t.Context(), obj))
}

// serve plays the decision on tickets and the volume's machine: the ticket is there, so the volume comes.
func (w *world) serve(id string) {
	w.t.Helper()
	ticket := w.ticket(id)
	volume := &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, volume, map[string]any{"nodeID": ticket.NodeID}))
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateAttaching})
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateAttached, "currentNodeID": ticket.NodeID})
	w.answer(id, true, v1beta2.ReasonSatisfied, "Attached.")
}

func (w *world) answer(id string, satisfied bool, reason, message string) {
	w.t.Helper()
	ticket := w.ticket(id)
	answer := map[string]any{
		"id": id, "satisfied": satisfied, "generation": ticket.Generation,
		"conditions": status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionFalse,
			Reason: reason, Message: message}}),
	}
	require.NoError(w.t, status.MergeStatus(w.t.Context(), w.admin, w.lhva(),
		map[string]any{"attachmentTicketStatuses": map[string]any{id: answer}}))
}

// vacate plays the same after the ticket has gone.
func (w *world) vacate(id string) {
	w.t.Helper()
	w.noTicket(id)
	volume := &v1beta2.Volume{ObjectMeta: w.meta(w.vol)}
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, volume, map[string]any{"nodeID": ""}))
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetaching})
	w.volumeStatus(map[string]any{"state": v1beta2.VolumeStateDetached, "currentNodeID": ""})
}

func (w *world) lhva() *v1beta2.VolumeAttachment {
	return &v1beta2.VolumeAttachment{ObjectMeta: w.meta(w.vol)}
}

// ticket waits for the ticket.
func (w *world) ticket(id string) v1beta2.AttachmentTicket {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, w.lhva(), "ticket "+id, func(va *v1beta2.VolumeAttachment) bool {
		_, ok := va.Spec.AttachmentTickets[id]
		return ok
	}).Spec.AttachmentTickets[id]
}

func (w *world) noTicket(id string) {
	w.t.Helper()
	testkit.WaitFor(w.t, w.admin, w.lhva(), "no ticket "+id, func(va *v1beta2.VolumeAttachment) bool {
		_, ok := va.Spec.AttachmentTickets[id]
		return !ok
	})
}

func (w *world) reaches(va *storagev1.VolumeAttachment, wanted string,
	holds func(*storagev1.VolumeAttachment) bool) *storagev1.VolumeAttachment {
	w.t.Helper()
	return testkit.WaitFor(w.t, w.admin, va, wanted, holds)
}

func isAttached(va *storagev1.VolumeAttachment) bool { return va.Status.Attached }

func (w *world) attachError(va *storagev1.VolumeAttachment, word string) *storagev1.VolumeAttachment {
	w.t.Helper()
	return w.reaches(va, "attachError with "+word, func(va *storagev1.VolumeAttachment) bool {
		return va.Status.AttachError != nil && strings.Contains(va.Status.AttachError.Message, word)
	})
}

func (w *world) detachError(va *storagev1.VolumeAttachment, word string) {
	w.t.Helper()
	w.reaches(va, "detachError with "+word, func(va *storagev1.VolumeAttachment) bool {
		return va.Status.DetachError != nil && strings.Contains(va.Status.DetachError.Message, word)
	})
}
