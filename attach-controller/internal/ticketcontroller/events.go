package ticketcontroller

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// Actions of the events.
const (
	actionCollect  = "CollectTicket"
	actionShare    = "ShareVolume"
	actionTakeOver = "TakeOver"
)

// eventsOf returns the events of a change that was done. Our own tickets have no events: the conditions of the VolumeAttachment report
// them.
func eventsOf(c ticket.Change, v ticket.Verdict) []events.Event {
	switch c.Why {
	case ticket.WhyOwnerGone:
		return []events.Event{ownerGone(c)}
	case ticket.WhyExpired:
		return []events.Event{expired(c)}
	case ticket.WhyCordoned:
		return []events.Event{cordonedNode(c)}
	case ticket.WhyWanted:
		if c.Ticket.Type == v1beta2.AttacherShareManager && v.NoShareManager {
			return []events.Event{shareManagerMissing(c)}
		}
	}
	return nil
}

func ownerGone(c ticket.Change) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "TicketOwnerGone", Action: actionCollect,
		Note: fmt.Sprintf("Ticket %q of type %s for node %q was removed: its owner, %s %s, is gone.", c.ID, c.Before.Type, c.Before.NodeID,
			c.Owner.Kind, c.Owner.Name)}
}

func expired(c ticket.Change) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "TicketExpired", Action: actionCollect,
		Note: fmt.Sprintf("Ticket %q of type %s for node %q was removed: it was to end at %s.", c.ID, c.Before.Type, c.Before.NodeID,
			c.Before.Parameters[v1beta2.TicketExpiresAt])}
}

func cordonedNode(c ticket.Change) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "TicketOfCordonedNode", Action: actionCollect,
		Note: fmt.Sprintf("Ticket %q was removed: node %s is cordoned, and the setting detach-manually-attached-volumes-when-cordoned "+
			"is true. Create a ticket for another node to attach the volume there.", c.ID, c.Before.NodeID)}
}

func shareManagerMissing(c ticket.Change) events.Event {
	return events.Event{Type: corev1.EventTypeWarning, Reason: "ShareManagerMissing", Action: actionShare,
		Note: fmt.Sprintf("Pods want this RWX volume, but no ShareManager names the node that shares it; ticket %q waits. Share "+
			"managers are created by another controller: check that it runs.", c.ID)}
}

// TakenOver is emitted on the VolumeAttachment of a volume that was taken over on its node.
func TakenOver(node string, tickets map[string]v1beta2.AttachmentTicket) events.Event {
	return events.Event{Type: corev1.EventTypeNormal, Reason: "TakenOver", Action: actionTakeOver,
		Note: fmt.Sprintf("The volume was attached to node %s and had no tickets: it got %d and stays where it is.", node, len(tickets))}
}
