package csi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// ownerKind is the kind of the ticket's owner, the storage.k8s.io object.
const ownerKind = "VolumeAttachment"

// wantedTicket returns the wanted ticket, and whether it differs from the stored one. A ticket with the right request and no other owner
// stays as it is, whoever created it.
func wantedTicket(w World) (v1beta2.AttachmentTicket, bool) {
	wanted := v1beta2.AttachmentTicket{
		ID: w.Attachment.Name, Type: v1beta2.AttacherCSI, NodeID: w.NodeID(),
		Parameters: map[string]string{
			v1beta2.TicketDisableFrontend: v1beta2.TicketValueFalse,
			v1beta2.TicketLastAttachedBy:  v1beta2.AttacherCSI,
			v1beta2.TicketOwnerKind:       ownerKind,
			v1beta2.TicketOwnerName:       w.Attachment.Name,
			v1beta2.TicketOwnerUID:        w.Attachment.UID,
		},
	}
	old, asked := w.ticket()
	if !asked {
		wanted.Generation = w.Tickets.Answers[w.Attachment.Name].Generation + 1
		return wanted, true
	}
	wanted.Generation = old.Generation + 1
	uid := old.Parameters[v1beta2.TicketOwnerUID]
	fits := old.Type == wanted.Type && old.NodeID == wanted.NodeID && (uid == "" || uid == w.Attachment.UID) &&
		or(old.Parameters[v1beta2.TicketDisableFrontend], v1beta2.TicketValueFalse) == v1beta2.TicketValueFalse
	return wanted, !fits
}

// answer reports whether the ticket is satisfied, and else what blocks it; nothing while it is being served.
func answer(w World) (satisfied bool, why string) {
	ticket, _ := w.ticket()
	if w.Volume.shared() {
		return shareAnswer(w)
	}
	given, answered := w.Tickets.Answers[ticket.ID]
	if !answered || given.Generation != ticket.Generation {
		return false, ""
	}
	if given.Satisfied {
		// The answer and the volume are read one after the other: both must show it.
		return w.Volume.attachedTo(ticket.NodeID), ""
	}
	return false, objection(w, ticket, given)
}

// shareAnswer is the answer for a shared volume: it need not be on the node, but its share must run.
func shareAnswer(w World) (satisfied bool, why string) {
	for _, id := range slices.Sorted(maps.Keys(w.Tickets.Wanted)) {
		ticket := w.Tickets.Wanted[id]
		if ticket.Type != v1beta2.AttacherShareManager {
			continue
		}
		if !w.Tickets.Answers[id].Satisfied {
			return false, objection(w, ticket, w.Tickets.Answers[id])
		}
		return w.Volume.State == v1beta2.VolumeStateAttached && w.Volume.ShareState == shareRunning, ""
	}
	return false, ""
}

// attachedTo reports whether the volume can be used on the node.
func (v *Volume) attachedTo(node string) bool {
	return v.State == v1beta2.VolumeStateAttached && (v.CurrentNodeID == node || v.CurrentMigrationNodeID == node)
}

// underWay are the reasons of a ticket that is being served, or that waits for something that ends without help.
var underWay = []string{
	"", v1beta2.ReasonSatisfied, v1beta2.ReasonAttaching, v1beta2.ReasonMigrating, v1beta2.ReasonWaitingForDetach,
	v1beta2.ReasonWaitingForShare,
}

// objection returns why the ticket is not satisfied, with the holder of the volume; empty while it is being served.
func objection(w World, ticket v1beta2.AttachmentTicket, given v1beta2.AttachmentTicketStatus) string {
	condition := conditions.Get(given.Conditions, v1beta2.TicketSatisfied)
	if condition == nil || slices.Contains(underWay, condition.Reason) {
		if w.Tickets.Blocked == "" {
			return ""
		}
		return fmt.Sprintf("volume %s is not attached to node %s yet: %s", w.Volume.Name, ticket.NodeID, w.Tickets.Blocked)
	}
	said := fmt.Sprintf("volume %s is not attached to node %s (%s%s)", w.Volume.Name, ticket.NodeID, condition.Reason, holder(w, ticket))
	if condition.Message == "" {
		return said + ": see kubectl -n longhorn-system describe lhva " + w.Volume.Name
	}
	return said + ": " + condition.Message
}

// holder returns the node of the volume and the tickets that keep it there, if that is not the ticket's node. It leaves out background
// work, which comes and goes and would change the message each time.
func holder(w World, ticket v1beta2.AttachmentTicket) string {
	node := or(w.Volume.CurrentNodeID, w.Volume.NodeID)
	if node == "" || node == ticket.NodeID {
		return ""
	}
	var by []string
	for id, other := range w.Tickets.Wanted {
		background := v1beta2.TicketPriority(other.Type) < v1beta2.TicketPriority(v1beta2.AttacherCSI)
		if other.NodeID == node && !background && w.Tickets.Answers[id].Satisfied {
			by = append(by, fmt.Sprintf("%s %q", other.Type, id))
		}
	}
	if len(by) == 0 {
		return "; held by node " + node
	}
	slices.Sort(by)
	return fmt.Sprintf("; held by node %s for %s", node, strings.Join(by, ", "))
}
