package attach

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Compare is the total order in which tickets are served: priority, then the shorter id, then the smaller one. No two
// tickets of one volume compare as equal.
func Compare(a, b v1beta2.AttachmentTicket) int {
	return cmp.Or(
		cmp.Compare(v1beta2.TicketPriority(b.Type), v1beta2.TicketPriority(a.Type)),
		cmp.Compare(len(a.ID), len(b.ID)),
		cmp.Compare(a.ID, b.ID),
	)
}

// Background reports whether the work can be done at any other time, on any other node.
func Background(attacher string) bool {
	switch attacher {
	case v1beta2.AttacherSnapshot, v1beta2.AttacherBackup, v1beta2.AttacherEviction, v1beta2.AttacherRebuilding,
		v1beta2.AttacherBackingImageData:
		return true
	}
	return false
}

// data reports whether the volume's own data needs the attachment, before the volume can be used.
func data(attacher string) bool {
	return attacher == v1beta2.AttacherRestore || attacher == v1beta2.AttacherExpansion
}

// Matches reports whether a ticket accepts the frontend.
func Matches(t v1beta2.AttachmentTicket, disabled bool) bool {
	switch t.Parameters[v1beta2.TicketDisableFrontend] {
	case v1beta2.TicketValueAny:
		return true
	case v1beta2.TicketValueTrue:
		return disabled
	}
	return !disabled
}

// sorted returns the tickets in the order in which they are served.
func (w World) sorted() []v1beta2.AttachmentTicket {
	if w.Attachment == nil {
		return nil
	}
	out := make([]v1beta2.AttachmentTicket, 0, len(w.Attachment.Tickets))
	for _, id := range slices.Sorted(maps.Keys(w.Attachment.Tickets)) {
		t := w.Attachment.Tickets[id]
		t.ID = id
		out = append(out, t)
	}
	slices.SortFunc(out, Compare)
	return out
}

// counted reports whether the ticket wants an attachment. A pod's ticket for a shared volume wants the share.
func (w World) counted(t v1beta2.AttachmentTicket) bool {
	return !w.Volume.Shared || t.Type != v1beta2.AttacherCSI
}

// waitsForData reports whether the ticket wants to use a volume whose data is still to come from a backup or another volume.
func (w World) waitsForData(t v1beta2.AttachmentTicket) bool {
	return w.Volume.Unfilled && !Matches(t, true)
}

// Selectable reports whether the ticket could be served, were the volume detached (row V).
func Selectable(w World, t v1beta2.AttachmentTicket) bool {
	reason, _ := w.refusal(t)
	return reason == ""
}

// WorkloadNode returns the node of the first ticket of a workload that could be served once the volume has its data; empty if there is
// none.
func WorkloadNode(w World) string {
	filled := *w.Volume
	filled.Unfilled, w.Volume = false, &filled
	for _, t := range w.sorted() {
		if v1beta2.IsUserTicket(t.Type) && Selectable(w, t) {
			return t.NodeID
		}
	}
	return ""
}

// refusal is row V: why a ticket cannot be served wherever the volume is, with the next step; "" if it can.
func (w World) refusal(t v1beta2.AttachmentTicket) (reason, message string) {
	node, exists := w.Nodes[t.NodeID]
	switch {
	case !w.counted(t):
		return v1beta2.ReasonWaitingForShare, "Pods reach this volume by its share, which does not run yet."
	case w.waitsForData(t):
		return w.whyNoData()
	case t.NodeID == "":
		return v1beta2.ReasonNoNode, "The ticket names no node: set its nodeID."
	case !exists:
		return v1beta2.ReasonNodeUnknown, fmt.Sprintf("There is no node %s: name another one, or add it.", t.NodeID)
	case node.Down:
		return v1beta2.ReasonNodeNotReady, fmt.Sprintf("Node %s is down: the ticket is served when it returns.", t.NodeID)
	case node.Upgrading:
		return v1beta2.ReasonNodeUpgrading, fmt.Sprintf("The data engine of node %s is being upgraded: the ticket is served when that "+
			"is done.", t.NodeID)
	case node.Cordoned && t.Type == v1beta2.AttacherLonghornAPI:
		return v1beta2.ReasonNodeCordoned, fmt.Sprintf("Node %s is cordoned: uncordon it, or name another one.", t.NodeID)
	case w.Volume.StrictLocal && len(w.ReplicaNodes) > 0 && !slices.Contains(w.ReplicaNodes, t.NodeID):
		return v1beta2.ReasonDataLocality, fmt.Sprintf("The volume is strict-local and its replica is on node %s: name that node.",
			w.ReplicaNodes[0])
	}
	return "", ""
}

// whyNoData returns why a ticket of a volume that still gets its data waits: for the end of that work, or for the node that does it.
func (w World) whyNoData() (reason, message string) {
	at := w.Volume.NodeID
	if at == "" || !w.down(at) {
		return v1beta2.ReasonWaitingForData, "The volume still waits for data from its backup or source: it can be used when that is whole."
	}
	message = fmt.Sprintf("The volume still waits for data from its backup or source, and gets it on node %s, which is down: start the node",
		at)
	if users := (table{World: w, tickets: w.sorted()}).users(); len(users) > 0 {
		message += fmt.Sprintf(", or remove what holds the volume there (%s)", list(users))
	}
	return v1beta2.ReasonDataNodeDown, message + "."
}
