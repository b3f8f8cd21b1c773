package attachment

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/why"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// What was done to the tickets.
const (
	Written   = "written"
	Unchanged = "unchanged"
	Removed   = "removed"
)

// Report is what attach or detach did, and who else wants the volume.
type Report struct {
	Volume string `json:"volume"`
	// Action is written, unchanged or removed.
	Action string `json:"action"`
	// Tickets are the ids that it is about.
	Tickets []string `json:"tickets"`
	// Node is what the written ticket wants; empty for a removal.
	Node string `json:"node,omitempty"`
	// Done: the volume is attached as the ticket wants, or no removed ticket holds it any more.
	Done bool `json:"done"`
	// Message is what attach-controller answers to the ticket, or about the volume after a removal; empty while it has not answered.
	Message string `json:"message,omitempty"`
	// Others are the other tickets on the volume.
	Others []why.Ticket   `json:"others"`
	Unread []world.Unread `json:"unread,omitempty"`

	gone    bool
	now     time.Time
	summary string
	// next is the command that shows more.
	next string
}

// Attached returns the report about a written ticket, as of what was read.
func Attached(w *world.World, volume, id, action string) Report {
	r := newReport(w, volume, action, []string{id})
	a := &w.Attachments.Items[0]
	ticket, exists := a.Spec.AttachmentTickets[id]
	answer := a.Status.AttachmentTicketStatuses[id]
	r.Node, r.gone = ticket.NodeID, !exists
	if a.Status.ObservedGeneration >= a.Generation && answer.Generation == ticket.Generation {
		r.Done = answer.Satisfied
		r.Message = messageOf(answer.Conditions, v1beta2.TicketSatisfied)
	}
	r.summary = fmt.Sprintf("%s: ticket %s wants node %s (%s).", volume, id, r.Node, action)
	if r.Done {
		r.summary = fmt.Sprintf("%s is attached to node %s for ticket %s (%s).", volume, r.Node, id, action)
	}
	return r
}

// Err reports that the written ticket is gone: nobody answers it any more.
func (r Report) Err() error {
	if !r.gone {
		return nil
	}
	return fmt.Errorf("ticket %s of volume %s was removed meanwhile: by detach, or it expired; see: %s", strings.Join(r.Tickets, ", "),
		r.Volume, r.next)
}

// Detached returns the report about removed tickets, as of what was read.
func Detached(w *world.World, volume string, ids []string) Report {
	r := newReport(w, volume, Removed, ids)
	a := &w.Attachments.Items[0]
	r.summary = fmt.Sprintf("%s: removed ticket %s.", volume, strings.Join(ids, ", "))
	if a.Status.ObservedGeneration < a.Generation {
		return r
	}
	ready := condition(a.Status.Conditions, v1beta2.VolumeAttachmentReady)
	r.Message = ready.Message
	switch {
	case a.Status.Holder != "":
		r.Done = true
		r.summary += fmt.Sprintf(" It stays on, or goes to, node %s for ticket %s.", a.Status.NodeID, a.Status.Holder)
	case ready.Reason == v1beta2.ReasonDetached || ready.Reason == v1beta2.ReasonNoCandidate || ready.Reason == v1beta2.ReasonFaulted:
		r.Done = true
		r.summary += " The volume is detached."
	}
	return r
}

func newReport(w *world.World, volume, action string, ids []string) Report {
	r := Report{Volume: volume, Action: action, Tickets: ids, Others: []why.Ticket{}, Unread: w.Unread, now: w.Now, next: showWhy(w, volume)}
	own := map[string]bool{}
	for _, id := range ids {
		own[id] = true
	}
	for _, t := range why.Tickets(w) {
		if !own[t.ID] {
			r.Others = append(r.Others, t)
		}
	}
	return r
}

func condition(conditions []v1beta2.Condition, kind string) v1beta2.Condition {
	for _, c := range conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1beta2.Condition{}
}

func messageOf(conditions []v1beta2.Condition, kind string) string {
	return condition(conditions, kind).Message
}

// Names returns the VolumeAttachment.
func (r Report) Names() []string {
	return []string{finding.Ref{Kind: "VolumeAttachment", Name: r.Volume}.Resource()}
}

// Text writes it for people.
func (r Report) Text(p *terminal.Printer) {
	p.Line("%s", r.summary)
	if r.Message != "" && !r.Done {
		p.Line("  %s", r.Message)
	}
	if len(r.Others) > 0 {
		p.Line("")
		p.Line("%s", p.In(terminal.Bold, "Also wanted by"))
		why.TicketTable(p, r.now, r.Others)
	}
	if !r.Done {
		p.Line("")
		p.Line("%s", p.In(terminal.Bold, "Next"))
		p.Line("  %s", r.next)
	}
	for _, unread := range r.Unread {
		p.Line("")
		p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
	}
}
