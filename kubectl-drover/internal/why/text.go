package why

import (
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// Names returns the volume.
func (r Report) Names() []string {
	return []string{finding.Ref{Kind: "Volume", Name: r.Volume}.Resource()}
}

// Text writes the explanation for people.
func (r Report) Text(p *terminal.Printer) {
	p.Line("%s", p.In(finding.Style(r.Severity), r.Summary))
	p.Line("%s", p.In(terminal.Dim, fmt.Sprintf("%s, %s, namespace %s", r.DataEngine, terminal.Size(r.SizeBytes), r.Namespace)))
	if len(r.Tickets) > 0 {
		p.Line("")
		p.Line("%s", p.In(terminal.Bold, "Wanted by"))
		TicketTable(p, r.now, r.Tickets)
	}
	if len(r.Causes) > 0 {
		p.Line("")
		title := "Because"
		if r.calm() {
			title = "Under way"
		}
		p.Line("%s", p.In(terminal.Bold, title))
		r.causes(p, r.Causes, "  ")
	}
	if len(r.Next) > 0 {
		p.Line("")
		p.Line("%s", p.In(terminal.Bold, "Next"))
		for _, step := range r.Next {
			p.Line("  %s", step.Command)
			p.Line("      %s", p.In(terminal.Dim, strings.TrimSuffix(step.For+"; "+step.Guide, "; ")))
		}
	}
	for _, unread := range r.Unread {
		p.Line("")
		p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
	}
}

// TicketTable writes one row for each ticket; ages are relative to now.
func TicketTable(p *terminal.Printer, now time.Time, tickets []Ticket) {
	rows := make([][]terminal.Cell, 0, len(tickets))
	for _, t := range tickets {
		holds, style := "", terminal.Warning
		if t.Holds {
			holds = "yes"
		}
		if t.Satisfied {
			style = terminal.Good
		}
		rows = append(rows, []terminal.Cell{{Text: t.ID}, {Text: t.For}, {Text: t.Node}, {Text: holds}, {Text: t.Reason, Style: style},
			{Text: terminal.Age(now, t.Since)}})
	}
	p.Table("  ", []string{"TICKET", "FOR", "NODE", "HOLDS", "ANSWER", "SINCE"}, rows)
}

// causes writes a tree: what is behind a cause stands below it, further to the right.
func (r Report) causes(p *terminal.Printer, causes []Cause, indent string) {
	for _, c := range causes {
		title := c.Object.String()
		if c.Part != "" {
			title += ", " + c.Part
		}
		since := ""
		if age := terminal.Age(r.now, c.Since); age != "" {
			since = p.In(terminal.Dim, " ("+age+")")
		}
		p.Line("%s%s: %s%s", indent, title, p.In(finding.Style(c.Severity), c.Reason), since)
		if c.Message != "" {
			p.Line("%s  %s", indent, c.Message)
		}
		r.causes(p, c.Causes, indent+"    ")
	}
}
