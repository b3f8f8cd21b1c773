package ticket

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// A14.
func TestTakeOver(t *testing.T) {
	older := func(w *World) { w.Attachment = nil }
	unanswered := func(w *World) { w.Attachment.Status = v1beta2.VolumeAttachmentStatus{} }
	attached := func(node string) change {
		return func(w *World) {
			w.KubernetesAttachments = append(w.KubernetesAttachments,
				KubernetesAttachment{Name: "csi-" + node, Node: node, UID: "uid-" + "csi"})
		}
	}
	rwx := volume(func(v *v1beta2.Volume) { v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany })
	noFrontend := volume(func(v *v1beta2.Volume) { v.Spec.DisableFrontend = true })
	share := func(node string) change {
		return func(w *World) {
			w.ShareManager = &v1beta2.ShareManager{ObjectMeta: metav1.ObjectMeta{UID: "uid-share"},
				Status: v1beta2.ShareManagerStatus{OwnerID: node}}
		}
	}
	for _, c := range []row{
		{"a volume without a known holder gets the user interface's ticket", basic(older, attachedTo("node-1")),
			[]string{"longhorn-ui @node-1 false"}},
		{"with the frontend as it is", basic(older, attachedTo("node-1"), noFrontend), []string{"longhorn-ui @node-1 true"}},
		{"a pod's volume is the pod's", basic(older, attachedTo("node-1"), attached("node-1")), []string{"csi-node-1 @node-1 false"}},
		{"a migrating volume is both pods'", basic(older, attachedTo("node-1"), attached("node-1"), attached("node-2")),
			[]string{"csi-node-1 @node-1 false", "csi-node-2 @node-2 false"}},
		{"a volume that Kubernetes is moving follows", basic(older, attachedTo("node-1"), attached("node-2")),
			[]string{"csi-node-2 @node-2 false"}},
		{"in maintenance it stays, though pods want it", basic(older, attachedTo("node-1"), noFrontend, attached("node-1")),
			[]string{"csi-node-1 @node-1 false", "longhorn-ui @node-1 true"}},
		{"a shared volume is its share's", basic(older, attachedTo("node-1"), rwx, attached("node-2"), share("node-1")),
			[]string{"csi-node-2 @node-2 false", "share-manager-controller-vol-1 @node-1 false"}},
		{"a share that names no node is where the volume is", basic(older, attachedTo("node-1"), rwx, attached("node-2")),
			[]string{"csi-node-2 @node-2 false", "share-manager-controller-vol-1 @node-1 false"}},
		{"a volume that is being restored is its restore's",
			basic(older, attachedTo("node-1"), noFrontend, volume(func(v *v1beta2.Volume) { v.Status.RestoreRequired = true })),
			[]string{"volume-restore-controller-vol-1 @node-1 true"}},
		{"one without tickets and answers is older, too", basic(unanswered, attachedTo("node-1")),
			[]string{"longhorn-ui @node-1 false"}},
		{"a volume whose last ticket went is not taken over", basic(attachedTo("node-1")), nil},
		{"a detached volume gets no ticket", basic(older), nil},
		{"a volume that is being deleted gets no ticket",
			basic(older, attachedTo("node-1"), volume(func(v *v1beta2.Volume) { v.DeletionTimestamp = &metav1.Time{Time: now} })), nil},
		{"a volume on a node that is down is taken over as well", basic(older, attachedTo("node-1"), down("node-1")),
			[]string{"longhorn-ui @node-1 false"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tickets := TakeOver(c.world)
			var got []string
			for _, x := range sorted(tickets) {
				require.EqualValues(t, 1, x.Generation)
				got = append(got, x.ID+" @"+x.NodeID+" "+frontendOf(x))
			}
			require.Equal(t, c.want, got)
			if len(tickets) > 0 {
				require.Empty(t, Decide(c.world).Changes, "nothing is decided before that")
				taken := c.world
				taken.Attachment = &v1beta2.VolumeAttachment{Spec: v1beta2.VolumeAttachmentSpec{AttachmentTickets: tickets}}
				require.Empty(t, Decide(taken).Changes, "and nothing is to be corrected afterwards")
			}
		})
	}
}
