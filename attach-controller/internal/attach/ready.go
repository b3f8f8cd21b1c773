package attach

import (
	"cmp"
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// ready reports, in one condition, the present or next holder of the volume, what blocks, and the next step.
func (t table) ready(wanted Spec, answers map[string]v1beta2.AttachmentTicketStatus) v1beta2.Condition {
	reason, message := t.situation(wanted)
	status := v1beta2.ConditionFalse
	if reason == v1beta2.ReasonAttached || reason == v1beta2.ReasonDetached {
		status = v1beta2.ConditionTrue
	}
	return v1beta2.Condition{
		Type: v1beta2.VolumeAttachmentReady, Status: status, Reason: reason, Message: message + t.waiting(wanted, answers),
		ObservedGeneration: t.Attachment.Generation,
	}
}

func (t table) situation(wanted Spec) (reason, message string) {
	v := t.Volume
	gone := v.CurrentNodeID == "" && (v.State == v1beta2.VolumeStateDetached || v.State == v1beta2.VolumeStateDeleting)
	switch {
	case v.Deleting && !gone:
		return v1beta2.ReasonDetaching, "The volume is being deleted: " + t.detaching()
	case v.Deleting:
		return v1beta2.ReasonDetached, "The volume is being deleted, and no ticket holds it."
	case v.Faulted:
		return v1beta2.ReasonFaulted, cmp.Or(v.Fault,
			"No replica of the volume can be used: start the nodes of its replicas again, salvage one, or restore a backup.")
	case wanted.NodeID != "":
		return t.situationOf(wanted)
	case !v.attachableAnywhere() && v.State != v1beta2.VolumeStateCreating && v.State != "":
		return v1beta2.ReasonDetaching, t.detaching()
	case len(t.tickets) == 0:
		return v1beta2.ReasonDetached, "No ticket wants the volume attached, and none holds it."
	case t.first() == nil:
		return v1beta2.ReasonNoCandidate, "No ticket can be served now."
	}
	return v1beta2.ReasonAttaching, "The volume is being created: it attaches when that is done."
}

// situationOf returns the situation of a volume that a ticket holds or is about to hold.
func (t table) situationOf(wanted Spec) (reason, message string) {
	v := t.Volume
	by := list(t.holders(wanted))
	switch {
	case v.State == v1beta2.VolumeStateDetaching:
		return v1beta2.ReasonDetaching, t.detaching()
	case t.down(wanted.NodeID):
		return v1beta2.ReasonBlocked, fmt.Sprintf("Node %s, which holds the volume for %s, is down: it continues when the node returns, "+
			"or remove the ticket, or create one for another node.", wanted.NodeID, by)
	case v.confirming(), wanted.NodeID != v.NodeID && v.MigrationNodeID == wanted.NodeID:
		return v1beta2.ReasonAttaching, fmt.Sprintf("The volume is completing its move to node %s, for %s.", wanted.NodeID, by)
	case !v.onWantedNode() && v.Blocker != "":
		return v1beta2.ReasonBlocked, fmt.Sprintf("The volume must be on node %s for %s, but cannot be yet: %s", wanted.NodeID, by,
			v.Blocker)
	case !v.onWantedNode() || v.DisableFrontend != v.FrontendDisabled:
		return v1beta2.ReasonAttaching, fmt.Sprintf("The volume is being attached to node %s, for %s: see the condition Attached of "+
			"Volume %s.", wanted.NodeID, by, v.Name)
	}
	message = fmt.Sprintf("Node %s holds the volume for %s, with its frontend %s.", wanted.NodeID, by, frontend(v.FrontendDisabled))
	if wanted.MigrationNodeID != "" {
		message += fmt.Sprintf(" It is moving to node %s: remove either pod to end that.", wanted.MigrationNodeID)
	}
	return v1beta2.ReasonAttached, message
}

func (t table) detaching() string {
	message := "the volume is being detached."
	if at := t.Volume.CurrentNodeID; at != "" {
		message = fmt.Sprintf("the volume is being detached from node %s.", at)
	}
	if t.Volume.Deleting {
		return message
	}
	return strings.ToUpper(message[:1]) + message[1:]
}

// waiting lists the tickets that are not served, except those to which the volume is on its way.
func (t table) waiting(wanted Spec, answers map[string]v1beta2.AttachmentTicketStatus) string {
	var said []string
	more := 0
	for _, x := range t.tickets {
		a := answers[x.ID]
		if a.Satisfied || wanted.NodeID != "" && x.NodeID == wanted.NodeID && Matches(x, wanted.DisableFrontend) {
			continue
		}
		if len(said) == named {
			more++
			continue
		}
		place := "no node"
		if x.NodeID != "" {
			place = "node " + x.NodeID
		}
		said = append(said, fmt.Sprintf("%s for %s (%s)", called(x), place, a.Conditions[0].Reason))
	}
	if len(said) == 0 {
		return ""
	}
	return " Waiting: " + strings.Join(said, ", ") + andMore(more) + "."
}

// named is how many tickets a message names; of the others it gives the number.
const named = 3

// called returns the name of a ticket in messages.
func called(x v1beta2.AttachmentTicket) string { return fmt.Sprintf("%s %q", kind(x), x.ID) }

func kind(x v1beta2.AttachmentTicket) string {
	if x.Type == "" {
		return "ticket"
	}
	return x.Type
}

// list returns the names of the first tickets of a list.
func list(tickets []v1beta2.AttachmentTicket) string {
	if len(tickets) == 0 {
		return "no ticket"
	}
	var said []string
	for _, x := range tickets[:min(len(tickets), named)] {
		said = append(said, called(x))
	}
	return strings.Join(said, ", ") + andMore(len(tickets)-len(said))
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

func frontend(disabled bool) string {
	if disabled {
		return "off"
	}
	return "on"
}
