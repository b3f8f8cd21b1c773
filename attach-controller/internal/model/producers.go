package model

import (
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

// produce is one pass of ticket.Decide: it decides again on uncached reads before it changes anything.
func (w *world) produce() {
	if len(ticket.Decide(w.ticketWorld()).Changes) == 0 {
		return
	}
	staleness := w.staleness
	w.staleness = 0
	verdict := ticket.Decide(w.ticketWorld())
	w.staleness = staleness
	changes := map[string]*v1beta2.AttachmentTicket{}
	for _, c := range verdict.Changes {
		changes[c.ID] = c.Ticket
	}
	if len(changes) > 0 {
		w.putTickets(changes)
	}
}

func (w *world) ticketWorld() ticket.World {
	out := ticket.World{
		Now: w.now, Volume: read(w, &w.volume), Attachment: read(w, &w.attachment), ShareManager: read(w, &w.share),
		Nodes: map[string]*v1beta2.Node{}, Exports: w.users.exports, Clones: w.users.clones, Owners: map[ticket.Owner]ticket.Presence{},
		Settings: ticket.Settings{AutoSalvage: true},
	}
	for _, e := range all(w, w.engines) {
		if e.Spec.Active {
			out.Engine = e
		}
	}
	for _, r := range all(w, w.replicas) {
		out.Replicas = append(out.Replicas, *r)
	}
	for _, n := range w.nodes {
		out.Nodes[n.name] = read(w, &n.slot)
	}
	for _, j := range w.users.jobs {
		out.Owners[j.owner()] = ticket.Presence{Exists: !j.gone}
	}
	return out
}
