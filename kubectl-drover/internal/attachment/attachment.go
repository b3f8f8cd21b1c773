// Package attachment decides which ticket of a VolumeAttachment attach and detach write, and reports what the ticket was answered. It
// touches no ticket but those of people (type longhorn-api), and imports no client.
package attachment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/why"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// DefaultTicket is the id of the ticket that attach writes unless another one is named.
const DefaultTicket = "by-hand"

// Wish is what attach is asked for.
type Wish struct {
	// Ticket is the id of the ticket, Node the name of a Longhorn Node.
	Ticket, Node string
	// DisableFrontend attaches without a block device, for maintenance.
	DisableFrontend bool
	// ExpiresAfter ends the ticket that long after it is written; 0 means never.
	ExpiresAfter time.Duration
	// Replace changes the parameters of a ticket that exists.
	Replace bool
}

// Change is the tickets to write, by id; nil removes one. Without entries there is nothing to write.
type Change map[string]*v1beta2.AttachmentTicket

// Of returns the VolumeAttachment of the one volume that was read. The error names what is missing.
func Of(w *world.World, volume string) (*v1beta2.VolumeAttachment, error) {
	switch {
	case len(w.Volumes.Items) == 0:
		return nil, fmt.Errorf("volume %s does not exist any more", volume)
	case len(w.Attachments.Items) == 0:
		return nil, fmt.Errorf("volume %s has no VolumeAttachment yet, which attach-controller creates: see that it runs with: %s", volume,
			w.Suggest("kubectl -n {ns} get lease drover-attach-controller", nil))
	}
	return &w.Attachments.Items[0], nil
}

// Attach returns the ticket that a wish takes. A ticket of the id that wants another place is refused, since it may be another person's.
func Attach(w *world.World, volume string, wish Wish) (Change, error) {
	a, err := Of(w, volume)
	if err != nil {
		return nil, err
	}
	if w.Volumes.Items[0].DeletionTimestamp != nil {
		return nil, fmt.Errorf("volume %s is being deleted, and is not attached again", volume)
	}
	ticket := v1beta2.AttachmentTicket{ID: wish.Ticket, Type: v1beta2.AttacherLonghornAPI, NodeID: wish.Node, Parameters: map[string]string{
		v1beta2.TicketDisableFrontend: fmt.Sprint(wish.DisableFrontend)}}
	if wish.ExpiresAfter > 0 {
		ticket.Parameters[v1beta2.TicketExpiresAt] = w.Now.Add(wish.ExpiresAfter).UTC().Format(time.RFC3339)
	}
	stored, exists := a.Spec.AttachmentTickets[wish.Ticket]
	switch {
	case !exists:
		return Change{wish.Ticket: &ticket}, nil
	case stored.Type != v1beta2.AttacherLonghornAPI:
		return nil, notAPersons(w, volume, wish.Ticket, stored.Type)
	case stored.NodeID != wish.Node:
		return nil, fmt.Errorf("ticket %s of volume %s wants node %s already, and a ticket's node is not changed: name another ticket "+
			"with --ticket, or end that one with: %s", wish.Ticket, volume, orNone(stored.NodeID),
			w.Suggest("kubectl drover detach {volume} --ticket '{ticket}' -n {ns}",
				world.Values{"volume": volume, "ticket": wish.Ticket}))
	}
	ticket.Generation = stored.Generation
	if maps.Equal(parameters(stored), parameters(ticket)) {
		return nil, nil
	}
	if !wish.Replace {
		return nil, fmt.Errorf("ticket %s of volume %s exists with other parameters (%s), and may be another person's: change it "+
			"with --replace, "+
			"or name another ticket with --ticket", wish.Ticket, volume, parametersText(stored))
	}
	if _, expires := stored.Parameters[v1beta2.TicketExpiresAt]; expires && wish.ExpiresAfter == 0 {
		ticket.Parameters[v1beta2.TicketExpiresAt] = "" // what a merge does not name stays
	}
	ticket.Generation++
	return Change{wish.Ticket: &ticket}, nil
}

// parameters are those that attach writes; an absent disableFrontend is false.
func parameters(t v1beta2.AttachmentTicket) map[string]string {
	return map[string]string{
		v1beta2.TicketDisableFrontend: cmp.Or(t.Parameters[v1beta2.TicketDisableFrontend], v1beta2.TicketValueFalse),
		v1beta2.TicketExpiresAt:       t.Parameters[v1beta2.TicketExpiresAt],
	}
}

func parametersText(t v1beta2.AttachmentTicket) string {
	values := parameters(t)
	return fmt.Sprintf("disable-frontend %s, expires %s", values[v1beta2.TicketDisableFrontend], cmp.Or(values[v1beta2.TicketExpiresAt],
		"never"))
}

// Which selects tickets of people to remove: that of an id, those for a node, or all. Without an id, or All, it is DefaultTicket.
type Which struct {
	Ticket, Node string
	All          bool
}

// Detach returns the removal of the tickets that are selected.
func Detach(w *world.World, volume string, which Which) (Change, error) {
	a, err := Of(w, volume)
	if err != nil {
		return nil, err
	}
	if ticket, exists := a.Spec.AttachmentTickets[which.Ticket]; which.Ticket != "" && exists && ticket.Type != v1beta2.AttacherLonghornAPI {
		return nil, notAPersons(w, volume, which.Ticket, ticket.Type)
	}
	asked := which
	if which.Ticket == "" && !which.All {
		which.Ticket = DefaultTicket
	}
	change, others := removals(a, which)
	if len(change) == 0 {
		if len(others) > 0 && asked.Ticket == "" {
			return nil, fmt.Errorf("volume %s has no ticket %s; other people's are %s: name one with --ticket, or remove them with --all", volume,
				which.Ticket, strings.Join(others, ", "))
		}
		return nil, noTicket(w, a, volume, asked)
	}
	return change, nil
}

// removals are the removal of the tickets of people that are selected, and the IDs of those that their ID alone leaves out, in order.
func removals(a *v1beta2.VolumeAttachment, which Which) (change Change, others []string) {
	change = Change{}
	for id, ticket := range a.Spec.AttachmentTickets {
		switch {
		case ticket.Type != v1beta2.AttacherLonghornAPI || which.Node != "" && which.Node != ticket.NodeID:
		case which.Ticket == "" || which.Ticket == id:
			change[id] = nil
		default:
			others = append(others, id)
		}
	}
	slices.Sort(others)
	return change, others
}

// noTicket reports that no ticket is as selected, and who wants the volume instead.
func noTicket(w *world.World, a *v1beta2.VolumeAttachment, volume string, which Which) error {
	selected := ""
	if which.Ticket != "" {
		selected += " with id " + which.Ticket
	}
	if which.Node != "" {
		selected += " for node " + which.Node
	}
	var others []string
	for _, t := range why.Tickets(w) {
		others = append(others, fmt.Sprintf("%s (%s) on node %s", t.ID, t.For, orNone(t.Node)))
	}
	if len(a.Spec.AttachmentTickets) == 0 {
		return fmt.Errorf("volume %s has no ticket%s: no one wants it attached; see: %s", volume, selected, showWhy(w, volume))
	}
	return fmt.Errorf("no person's ticket%s is on volume %s. It is wanted by %s; detach does not end those: delete the pod or object instead",
		selected, volume, strings.Join(others, ", "))
}

func notAPersons(w *world.World, volume, id, kind string) error {
	return fmt.Errorf("ticket %s of volume %s is not a person's but of type %s: it ends with the pod or object that it is for; see: %s", id,
		volume, kind,
		showWhy(w, volume))
}

// showWhy is the command that shows who wants the volume.
func showWhy(w *world.World, volume string) string {
	return w.Suggest("kubectl drover why {volume} -n {ns}", world.Values{"volume": volume})
}

func orNone(node string) string { return cmp.Or(node, "none") }

// IDs returns the ids of the tickets, sorted.
func (c Change) IDs() []string { return slices.Sorted(maps.Keys(c)) }

// Patch returns the fields of the VolumeAttachment's spec to merge.
func (c Change) Patch() map[string]any { return map[string]any{"attachmentTickets": c} }
