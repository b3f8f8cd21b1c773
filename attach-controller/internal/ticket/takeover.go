package ticket

import (
	"strconv"

	"drover.dev/drover/shared/api/v1beta2"
)

// UITicket is the id of the ticket that holds a volume without a known holder; Longhorn's UI uses it.
const UITicket = "longhorn-ui"

// NeedsTakeOver reports whether a volume is wanted on a node, and no ticket ever was for that: it has no VolumeAttachment, or one without
// tickets and answers. Decisions on tickets take such a volume over first.
func NeedsTakeOver(v *v1beta2.Volume, a *v1beta2.VolumeAttachment) bool {
	if v == nil || v.DeletionTimestamp != nil || v.Spec.NodeID == "" {
		return false
	}
	return a == nil || a.DeletionTimestamp == nil && len(a.Spec.AttachmentTickets) == 0 &&
		a.Status.ObservedGeneration == 0 && len(a.Status.Conditions) == 0 && len(a.Status.AttachmentTicketStatuses) == 0
}

// TakeOver returns the tickets, by id, with which a volume stays on its node: those of its Kubernetes attachments, of its share and of its
// own work; if none of them accounts for it, the one of the user interface. It returns nil if nothing is to be taken over. It reads
// Volume, Attachment, Engine, Nodes, ShareManager and KubernetesAttachments.
func TakeOver(w World) map[string]v1beta2.AttachmentTicket {
	if !NeedsTakeOver(w.Volume, w.Attachment) {
		return nil
	}
	tickets := map[string]v1beta2.AttachmentTicket{}
	for _, k := range w.KubernetesAttachments {
		tickets[k.Name] = kubernetesTicket(k)
	}
	w.Attachment = &v1beta2.VolumeAttachment{Spec: v1beta2.VolumeAttachmentSpec{AttachmentTickets: tickets}}
	for _, x := range wishes(w) {
		t := x.ticket()
		if t.Type == v1beta2.AttacherShareManager && t.NodeID == "" {
			t.NodeID = w.Volume.Spec.NodeID
		}
		tickets[t.ID] = t
	}
	if !w.held(tickets) {
		tickets[UITicket] = w.uiTicket()
	}
	for id, t := range tickets {
		t.Generation = 1
		tickets[id] = t
	}
	return tickets
}

// held reports whether the tickets account for the volume's node: a ticket is for exactly that, or pods use the volume, and then the
// Kubernetes attachments have the node.
func (w World) held(tickets map[string]v1beta2.AttachmentTicket) bool {
	v := w.Volume
	disabled := strconv.FormatBool(v.Spec.DisableFrontend)
	for _, t := range tickets {
		want := frontendOf(t)
		if !v1beta2.WantsShare(w.Volume, t.Type) && t.NodeID == v.Spec.NodeID && (want == v1beta2.TicketValueAny || want == disabled) {
			return true
		}
	}
	return !v.Spec.DisableFrontend && len(w.KubernetesAttachments) > 0
}

func (w World) uiTicket() v1beta2.AttachmentTicket {
	t := v1beta2.AttachmentTicket{ID: UITicket, Type: v1beta2.AttacherLonghornAPI, NodeID: w.Volume.Spec.NodeID,
		Parameters: map[string]string{
			v1beta2.TicketDisableFrontend: strconv.FormatBool(w.Volume.Spec.DisableFrontend),
		}}
	if by := w.Volume.Spec.LastAttachedBy; by != "" {
		t.Parameters[v1beta2.TicketLastAttachedBy] = by
	}
	return t
}

// kubernetesTicket is the one that the Kubernetes attach writes for its VolumeAttachment.
func kubernetesTicket(k KubernetesAttachment) v1beta2.AttachmentTicket {
	t := wish{frontend: v1beta2.TicketValueFalse, owner: Owner{KindKubernetesAttachment, k.Name}, ownerUID: k.UID}.
		named(k.Name, v1beta2.AttacherCSI, k.Node)
	t.Parameters[v1beta2.TicketLastAttachedBy] = v1beta2.AttacherCSI
	return t
}

// frontendOf is a ticket's wanted frontend; no parameter means on.
func frontendOf(t v1beta2.AttachmentTicket) string {
	if wish := t.Parameters[v1beta2.TicketDisableFrontend]; wish != "" {
		return wish
	}
	return v1beta2.TicketValueFalse
}
