package attachcontroller

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/attach-controller/internal/ticketcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

func TestEveryVolumeGetsItsAttachmentWithEverythingThatItIsFoundBy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	w.volume(vol, nil)
	w.ready(vol, v1beta2.ReasonDetached)
	v, a := w.now(vol)
	require.Equal(t, []string{v1beta2.Finalizer}, a.Finalizers)
	require.Equal(t, map[string]string{v1beta2.LabelVolume: vol}, a.Labels)
	require.Equal(t, []metav1.OwnerReference{{APIVersion: "longhorn.io/v1beta2", Kind: "Volume", Name: vol, UID: v.UID}}, a.OwnerReferences)
	require.Equal(t, vol, a.Spec.Volume)
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(v1beta2.GroupVersion.WithKind("VolumeAttachment"))
	require.NoError(t, w.admin.Get(t.Context(), client.ObjectKeyFromObject(a), raw))
	tickets, exists, err := unstructured.NestedMap(raw.Object, "spec", "attachmentTickets")
	require.NoError(t, err)
	require.True(t, exists && tickets != nil, "an empty map, never none")
	w.quiet(p)
}

// Its VolumeAttachment was deleted while it was being released, which the cache does not show yet.
func TestAVolumeThatWasJustReleasedGetsNoTicketForWhereItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seen := w.volume(vol, nil)
	seen.Spec.NodeID = "node-2"
	seen.Status.State, seen.Status.CurrentNodeID = v1beta2.VolumeStateAttached, "node-2"
	tickets, err := ticketcontroller.TakeOver(t.Context(), w.admin, seen, nil)
	require.NoError(t, err)
	require.Len(t, tickets, 1, "the volume that the cache shows has one")
	r := reconciler{client: w.admin, writer: writer{client: w.admin, uncached: w.admin}}
	require.NoError(t, r.create(t.Context(), seen))
	_, a := w.now(vol)
	require.Empty(t, a.Spec.AttachmentTickets)
}

// An object that a user created with nothing but its tickets is completed, and served.
func TestAnAttachmentMadeByHandIsCompletedAndServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.create(&v1beta2.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: vol, Finalizers: []string{"example.com/mine"},
			Labels: map[string]string{"mine": "too"}},
		Spec: v1beta2.VolumeAttachmentSpec{Volume: vol, AttachmentTickets: map[string]v1beta2.AttachmentTicket{
			"": {Type: v1beta2.AttacherLonghornAPI, NodeID: "node-2"},
		}},
	})
	w.start()
	w.shows(vol, "node-2", " Attaching")
	_, a := w.now(vol)
	require.Equal(t, []string{"example.com/mine", v1beta2.Finalizer}, a.Finalizers)
	require.Equal(t, map[string]string{"mine": "too", v1beta2.LabelVolume: vol}, a.Labels)
	require.Equal(t, v.UID, a.OwnerReferences[0].UID)
	require.Equal(t, v1beta2.AttacherLonghornAPI, a.Status.Holder, "an empty id is replaced by its type")
}

// A14: an attached volume without tickets stays on its node.
func TestAnAttachedVolumeIsTakenOverWithoutABlink(t *testing.T) {
	cases := map[string]struct {
		volume  string
		prepare func(*world) string
	}{
		"it has no VolumeAttachment": {vol, func(*world) string { return ticket.UITicket }},
		"its VolumeAttachment is empty": {vol, func(w *world) string {
			a := w.ofTickets(vol)
			a.Spec = v1beta2.VolumeAttachmentSpec{Volume: vol, AttachmentTickets: map[string]v1beta2.AttachmentTicket{}}
			w.create(a)
			return ticket.UITicket
		}},
		"a pod uses it": {"of-a-pod", func(w *world) string { return w.pod("of-a-pod", "node-1") }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			v := w.volume(c.volume, nil)
			w.spec(v, map[string]any{"nodeID": "node-1"})
			w.attached(c.volume, "node-1")
			id := c.prepare(w)
			before, _ := w.now(c.volume)
			w.start()
			w.shows(c.volume, "node-1", id+" Satisfied")
			w.event("VolumeAttachment", "TakenOver")
			after, _ := w.now(c.volume)
			require.Equal(t, before.Generation, after.Generation, "its spec was never written to")
		})
	}
}

// pod creates the Kubernetes objects of a volume that a pod uses, and returns the name of its VolumeAttachment. Neither has a namespace,
// so that other worlds see them.
func (w *world) pod(handle, node string) string {
	w.t.Helper()
	name := w.namespace + "-" + handle
	w.create(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "driver.longhorn.io", VolumeHandle: handle},
		},
	}})
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: "driver.longhorn.io", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
	}}
	w.create(a)
	w.t.Cleanup(func() { require.NoError(w.t, w.admin.Delete(context.Background(), a)) })
	return a.Name
}

// A VolumeAttachment that is being deleted has nothing to clean up, so that nothing delays its end. Its volume gets another one; an
// attached volume is taken over, as any without tickets.
func TestAnAttachmentThatIsDeletedGoesAtOnceAndComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	_, first := w.now(vol)
	w.delete(w.ofTickets(vol))
	second := w.replaced(first)
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "pod Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod Satisfied")

	before, _ := w.now(vol)
	w.delete(w.ofTickets(vol))
	w.replaced(second)
	w.shows(vol, "node-1", ticket.UITicket+" Satisfied")
	after, _ := w.now(vol)
	require.Equal(t, before.Generation, after.Generation, "a volume in use is not taken from anybody by that")
	w.drop(vol, ticket.UITicket)
	w.shows(vol, "")
}

// replaced waits until there is another VolumeAttachment, which was answered.
func (w *world) replaced(old *v1beta2.VolumeAttachment) *v1beta2.VolumeAttachment {
	w.t.Helper()
	var found *v1beta2.VolumeAttachment
	require.Eventually(w.t, func() bool {
		_, found = w.now(old.Name)
		return found.UID != "" && found.UID != old.UID && found.Status.ObservedGeneration == found.Generation
	}, patience, poll, "the VolumeAttachment was not replaced")
	return found
}

// Somebody else's finalizer is his: tickets are served as long as the object is there.
func TestTicketsAreServedWhileAnotherFinalizerKeepsADeletedAttachment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "pod Attaching")
	w.finalizers("example.com/mine", v1beta2.Finalizer)
	w.delete(w.ofTickets(vol))
	require.Eventually(t, func() bool {
		_, a := w.now(vol)
		return len(a.Finalizers) == 1 && a.Finalizers[0] == "example.com/mine"
	}, patience, poll)
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod Satisfied")
	_, old := w.now(vol)
	w.finalizers()
	w.replaced(old)
}

func (w *world) finalizers(list ...string) {
	w.t.Helper()
	patch := client.MergeFrom(w.ofTickets(vol))
	changed := w.ofTickets(vol)
	changed.Finalizers = list
	body, err := patch.Data(changed)
	if len(list) == 0 {
		body = []byte(`{"metadata":{"finalizers":null}}`)
	}
	require.NoError(w.t, err)
	require.NoError(w.t, w.admin.Patch(w.t.Context(), w.ofTickets(vol), client.RawPatch(types.MergePatchType, body)))
}

// A16: with the volume the VolumeAttachment goes, and nothing waits for it.
func TestWithTheVolumeItsAttachmentGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
	w.shows(vol, "node-1", "pod Attaching")
	w.attached(vol, "node-1")
	w.shows(vol, "node-1", "pod Satisfied")
	require.NoError(t, w.admin.Patch(t.Context(), v,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["longhorn.io"]}}`))))
	w.delete(v)
	w.shows(vol, "", "pod WaitingForDetach")
	require.Contains(t, w.ready(vol, v1beta2.ReasonDetaching), "being deleted")
	w.delete(w.ofTickets(vol))
	testkit.WaitGone(t, w.admin, w.ofTickets(vol))
	w.machine(vol, v1beta2.VolumeStateDeleting, "")
	require.Never(t, func() bool { _, a := w.now(vol); return a.UID != "" }, 300*time.Millisecond, 50*time.Millisecond,
		"a volume that goes gets no other one")
	gone, _ := w.now(vol)
	require.NoError(t, status.DropFinalizer(t.Context(), w.admin, gone, v1beta2.Finalizer))
	testkit.WaitGone(t, w.admin, v)
}

// An attachment without a volume reports that, satisfies no ticket, and is released when it is deleted.
func TestAnAttachmentWithoutAVolumeReportsThatAndIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ofTickets(vol)
	a.Finalizers = []string{v1beta2.Finalizer}
	a.Spec = v1beta2.VolumeAttachmentSpec{Volume: vol,
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"pod": {ID: "pod", NodeID: "node-1"}}}
	w.create(a)
	p := w.start()
	require.Contains(t, w.ready(vol, v1beta2.ReasonBlocked), "no volume of this name")
	w.shows(vol, "", "pod Attaching")
	w.quiet(p)
	w.delete(a)
	testkit.WaitGone(t, w.admin, a)
}

// The tickets of an earlier volume of the same name are not for this one.
func TestAnAttachmentOfAnEarlierVolumeIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.ofTickets(vol)
	old.Finalizers = []string{v1beta2.Finalizer}
	old.OwnerReferences = []metav1.OwnerReference{{APIVersion: "longhorn.io/v1beta2", Kind: "Volume", Name: vol, UID: "earlier"}}
	old.Spec = v1beta2.VolumeAttachmentSpec{Volume: vol,
		AttachmentTickets: map[string]v1beta2.AttachmentTicket{"pod": {ID: "pod", Type: v1beta2.AttacherCSI, NodeID: "node-1"}}}
	w.create(old)
	v := w.volume(vol, nil)
	w.start()
	again := w.replaced(old)
	require.Empty(t, again.Spec.AttachmentTickets)
	require.Equal(t, v.UID, again.OwnerReferences[0].UID)
	w.shows(vol, "")
}
