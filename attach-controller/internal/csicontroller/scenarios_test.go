package csicontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
)

func TestWhatKubernetesAsksBecomesATicketAndItsAnswerAStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	p := w.start()
	va := w.asks()
	ticket := w.ticket(va.Name)
	va = w.reaches(va, "the finalizer", func(va *storagev1.VolumeAttachment) bool { return len(va.Finalizers) > 0 })
	require.Equal(t, v1beta2.AttachmentTicket{
		ID: va.Name, Type: v1beta2.AttacherCSI, NodeID: w.node, Generation: 1,
		Parameters: map[string]string{
			"disableFrontend": "false", "lastAttachedBy": "csi-attacher", "ownerKind": "VolumeAttachment",
			"ownerName": va.Name, "ownerUID": string(va.UID),
		},
	}, ticket)
	pv := &corev1.PersistentVolume{}
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(w.persistentVolume()), pv))
	require.Contains(t, pv.Finalizers, csi.Finalizer)
	w.serve(va.Name)
	va = w.reaches(va, "attached", isAttached)
	require.Equal(t, map[string]string{csi.MetadataVolume: w.vol, csi.MetadataNode: w.node}, va.Status.AttachmentMetadata)

	w.remove(va)
	w.noTicket(va.Name)
	w.reaches(va, "still attached", isAttached)
	w.vacate(va.Name)
	testkit.WaitGone(t, w.admin, va)
	require.Equal(t, []string{
		"patch VolumeAttachment " + va.Name, "patch PersistentVolume " + w.pv, "patch VolumeAttachment " + w.vol,
		"patch VolumeAttachment/status " + va.Name,
		"patch VolumeAttachment " + w.vol, "patch VolumeAttachment/status " + va.Name, "patch VolumeAttachment " + va.Name,
	}, p.Client.Writes(), "these writes, in this order, and no other")
	require.Eventually(t, func() bool {
		said := w.events()
		return said["AttachedForKubernetes"] == w.vol && said["DetachedForKubernetes"] == w.vol
	}, patience, poll, "the volume's events never reported")
}

func TestAMissingObjectIsReportedOnceAndTheAttachContinuesWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	w.create(w.persistentVolume())
	va := w.asks()
	w.attachError(va, "volume vol-1 does not exist")
	w.longhorn()
	w.attachError(va, "which does not exist: delete the pod")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}}
	w.create(node)
	w.attachError(va, "CSINode")
	w.create(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: w.node}, Spec: storagev1.CSINodeSpec{}})
	registered := &storagev1.CSINode{}
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(node), registered))
	require.Empty(t, w.now(va).Finalizers, "a refused attachment has no finalizer")
	writes := len(p.Client.Writes())
	w.volumeStatus(map[string]any{"actualSize": 4096})
	registered.Spec.Drivers = []storagev1.CSINodeDriver{{Name: csi.Driver, NodeID: w.node}}
	require.NoError(t, w.admin.Update(t.Context(), registered))
	w.ticket(va.Name)
	w.reaches(va, "no error", func(va *storagev1.VolumeAttachment) bool { return va.Status.AttachError == nil })
	require.Len(t, p.Client.Writes(), writes+4, "what does not matter brings no write")
}

func TestTheSecondOfTwoNodesReportsTheHolderOfTheVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.start()
	first := w.asks()
	w.serve(first.Name)
	w.reaches(first, "attached", isAttached)

	second := &world{t: t, namespace: w.namespace, admin: w.admin, node: w.node + "2", pv: w.pv, vol: w.vol, attached: w.attached + "-2"}
	second.create(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: second.node}},
		&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: second.node},
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: csi.Driver, NodeID: second.node}}}},
		&v1beta2.Node{ObjectMeta: w.meta(second.node)},
	)
	va := second.asks()
	second.ticket(va.Name)
	second.answer(va.Name, false, v1beta2.ReasonAttachedElsewhere, "It goes there when the other ticket is removed.")
	reported := second.attachError(va, "held by node "+w.node+" for csi-attacher \""+first.Name+"\"")
	second.answer(va.Name, false, v1beta2.ReasonAttachedElsewhere, "It goes there when the other ticket is removed.")

	w.remove(first)
	w.vacate(first.Name)
	testkit.WaitGone(t, w.admin, first)
	// The text may already be another one: nobody holds the volume any more.
	if now := second.now(va).Status.AttachError; now.Message == reported.Status.AttachError.Message {
		require.Equal(t, reported.Status.AttachError.Time, now.Time, "the same text keeps its time")
	}
	second.serve(va.Name)
	require.Nil(t, second.reaches(va, "attached", isAttached).Status.AttachError)
}

func TestADownNodeKeepsTheAttachmentUntilItsEndIsPositive(t *testing.T) {
	cases := map[string]func(*world){
		"the volume has left": func(w *world) { w.vacate(w.attached) },
		"the Kubernetes node is gone": func(w *world) {
			w.remove(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.node}})
		},
		"the node is declared dead": func(w *world) { w.outOfService() },
		"the volume is gone": func(w *world) {
			w.remove(&v1beta2.Volume{ObjectMeta: w.meta(w.vol)})
		},
		"somebody else keeps it there": func(w *world) {
			other := map[string]any{"id": "snapshot-controller-s", "type": v1beta2.AttacherSnapshot, "nodeID": w.node}
			require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, w.lhva(),
				map[string]any{"attachmentTickets": map[string]any{"snapshot-controller-s": other}}))
		},
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.cluster()
			w.longhorn()
			w.start()
			va := w.asks()
			w.serve(va.Name)
			w.reaches(va, "attached", isAttached)
			w.nodeReady(v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
			w.remove(va)
			w.noTicket(va.Name)
			w.detachError(va, "which is down")
			require.True(t, w.now(va).Status.Attached)
			end(w)
			testkit.WaitGone(t, w.admin, va)
		})
	}
}

func TestAPersistentVolumeStaysUntilItsLastAttachmentIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.start()
	va := w.asks()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	w.remove(w.persistentVolume())
	testkit.WaitFor(t, w.admin, w.persistentVolume(), "only our finalizer", func(pv *corev1.PersistentVolume) bool {
		return len(pv.Finalizers) == 1 && pv.Finalizers[0] == csi.Finalizer
	})
	require.True(t, w.now(va).Status.Attached, "what is attached stays so")
	w.remove(va)
	w.vacate(va.Name)
	testkit.WaitGone(t, w.admin, va)
	testkit.WaitGone(t, w.admin, w.persistentVolume())
}

func TestASharedVolumeIsAttachedWhenItsShareRunsElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	require.NoError(t, status.MergeSpec(t.Context(), w.admin, &v1beta2.Volume{ObjectMeta: w.meta(w.vol)},
		map[string]any{"accessMode": "rwx"}))
	w.start()
	va := w.asks()
	w.ticket(va.Name)
	share := v1beta2.TicketID(v1beta2.AttacherShareManager, w.vol)
	ticket := map[string]any{"id": share, "type": v1beta2.AttacherShareManager, "nodeID": "elsewhere", "generation": 1}
	require.NoError(t, status.MergeSpec(t.Context(), w.admin, w.lhva(), map[string]any{"attachmentTickets": map[string]any{share: ticket}}))
	w.serve(share)
	require.False(t, w.now(va).Status.Attached, "the share does not run yet")
	w.volumeStatus(map[string]any{"shareState": "running"})
	w.reaches(va, "attached", isAttached)
	w.remove(va)
	testkit.WaitGone(t, w.admin, va)
}

func TestATicketAtAnotherVolumeGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	w.start()
	va := w.asks()
	w.serve(va.Name)
	w.reaches(va, "attached", isAttached)
	stray := &v1beta2.VolumeAttachment{ObjectMeta: w.meta("vol-2")}
	stray.Spec = v1beta2.VolumeAttachmentSpec{Volume: "vol-2", AttachmentTickets: map[string]v1beta2.AttachmentTicket{
		va.Name: {ID: va.Name, Type: v1beta2.AttacherCSI, NodeID: w.node},
	}}
	w.create(stray)
	w.remove(va)
	w.vacate(va.Name)
	testkit.WaitGone(t, w.admin, va)
	left := &v1beta2.VolumeAttachment{}
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(stray), left))
	require.Empty(t, left.Spec.AttachmentTickets)
}

func TestOtherDriversAttachmentsAreNotTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.cluster()
	w.longhorn()
	p := w.start()
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: w.attached + "-other"}}
	va.Spec = storagev1.VolumeAttachmentSpec{Attacher: "other.example.com", NodeName: w.node,
		Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &w.pv}}
	w.create(va)
	ours := w.asks()
	w.ticket(ours.Name)
	require.NotContains(t, p.Client.Writes(), "patch VolumeAttachment/status "+va.Name)
	require.Empty(t, w.now(va).Finalizers)
}

// now reads the VolumeAttachment.
func (w *world) now(va *storagev1.VolumeAttachment) *storagev1.VolumeAttachment {
	w.t.Helper()
	found := &storagev1.VolumeAttachment{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(va), found))
	return found
}

// events returns the reasons of the namespace's events with what they are about.
func (w *world) events() map[string]string {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	said := map[string]string{}
	for _, e := range list.Items {
		said[e.Reason] = e.Regarding.Name
	}
	return said
}
