package orphans

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// Table is the report of several orphans.
type Table struct {
	Orphans []Orphan       `json:"orphans"`
	Unread  []world.Unread `json:"unread,omitempty"`

	// Now is what ages are relative to.
	Now time.Time `json:"-"`
}

// Names returns the Orphans.
func (t Table) Names() []string { return names(t.Orphans) }

func names(all []Orphan) []string {
	out := make([]string, 0, len(all))
	for _, o := range all {
		out = append(out, finding.Ref{Kind: "Orphan", Name: o.Object}.Resource())
	}
	return out
}

// Text writes one row for each.
func (t Table) Text(p *terminal.Printer) {
	defer func() {
		for _, unread := range t.Unread {
			p.Line("")
			p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
		}
	}()
	if len(t.Orphans) == 0 {
		p.Line("no orphans")
		return
	}
	var rows [][]terminal.Cell
	for _, o := range t.Orphans {
		rows = append(rows, []terminal.Cell{{Text: o.Instance}, {Text: o.Node}, {Text: o.Type}, {Text: o.DataEngine}, {Text: o.State},
			{Text: o.Orphaned.Reason}, {Text: o.standing(), Style: o.style()}, {Text: o.data(), Style: terminal.Warning},
			{Text: terminal.Age(t.Now, o.Created)}})
	}
	p.Table("", []string{"INSTANCE", "NODE", "TYPE", "ENGINE", "STATE", "WHY", "DECISION", "DELETING IT", "SINCE"}, rows)
}

// standing is the most recent of what was decided and done.
func (o *Orphan) standing() string {
	switch {
	case o.Withdrawn.Reason != "":
		return "withdrawn: " + o.Withdrawn.Reason
	case o.Failed.Reason != "":
		return "failed: " + o.Failed.Reason
	case o.Decision.Reason != "":
		return o.Decision.Reason
	case o.DeletedSince != "":
		return "deleted"
	}
	return ""
}

func (o *Orphan) style() terminal.Style {
	if o.Failed.Reason != "" && o.Withdrawn.Reason == "" {
		return terminal.Bad
	}
	return terminal.Plain
}

func (o *Orphan) data() string {
	if o.DestroysData && o.mayBeDeleted() {
		return "destroys data"
	}
	return ""
}

// Explanation is the report of one orphan.
type Explanation struct {
	Orphan `json:",inline"`

	// World has the time that ages are relative to, and what the next command is about.
	World *world.World `json:"-"`
}

// Names returns the Orphan.
func (e Explanation) Names() []string { return names([]Orphan{e.Orphan}) }

// Text writes everything that is known in sentences.
func (e Explanation) Text(p *terminal.Printer) {
	p.Line("%s", p.In(terminal.Bold, fmt.Sprintf("%s on node %s: %s %s, %s", e.Instance, e.Node, e.DataEngine, e.Type, cmp.Or(e.State,
		"state unknown"))))
	p.Line("%s", p.In(terminal.Dim, fmt.Sprintf("Orphan %s, on %s", e.Object, e.Place)))
	p.Line("")
	var rows [][]terminal.Cell
	for _, part := range []struct {
		title string
		said  Condition
	}{{"Orphaned", e.Orphaned}, {"Decision", e.Decision}, {"Failed", e.Failed}, {"Withdrawn", e.Withdrawn}} {
		if part.said.Reason != "" {
			rows = append(rows, terminal.Row(part.title, part.said.Reason, part.said.Message))
		}
	}
	if e.GivenUpBy != "" {
		rows = append(rows, terminal.Row("Given up", "", "by "+e.GivenUpBy))
	}
	if e.DeletedSince != "" {
		rows = append(rows, terminal.Row("Deleted", terminal.Age(e.World.Now, e.DeletedSince), "by "+e.DeletedBy))
	}
	p.Table("", []string{"", "", ""}, rows)
	p.Line("")
	p.Line("Deleting it: %s", e.Effect)
	for _, warning := range e.cautions() {
		p.Line("  %s", p.In(terminal.Warning, warning))
	}
	p.Line("")
	p.Line("%s", p.In(terminal.Bold, "Next"))
	if e.mayBeDeleted() {
		p.Line("  %s", e.World.Suggest("kubectl drover orphans delete {name} -n {ns}", world.Values{"name": e.Object}))
	} else {
		p.Line("  %s", e.World.Suggest("kubectl -n {ns} describe lho {name}", world.Values{"name": e.Object}))
	}
	p.Line("      %s", p.In(terminal.Dim, "docs/orphans.md"))
}

// mayBeDeleted reports whether a person's deletion changes anything.
func (o *Orphan) mayBeDeleted() bool { return o.DeletedSince == "" || o.Releasable }

// cautions are the warnings, and why the orphan is held back where they do not say that.
func (o *Orphan) cautions() []string {
	if o.Held == "" || !o.mayBeDeleted() || slices.Contains(o.Warnings, o.Held) {
		return o.Warnings
	}
	return append(slices.Clone(o.Warnings), o.Held)
}

// Names returns the Orphans that go.
func (p Plan) Names() []string { return names(p.Delete) }

// Text writes what would go, with the effect, and what is left alone.
func (p Plan) Text(out *terminal.Printer) {
	writeChoice(out, []string{"DELETED", "NODE", "WHY", "EFFECT"}, p.Delete, p.Left)
}

// writeChoice writes two tables: the chosen orphans with their effects and cautions under the given head, and the orphans that are left
// alone.
func writeChoice(out *terminal.Printer, head []string, chosen []Orphan, left []Left) {
	var rows [][]terminal.Cell
	for _, o := range chosen {
		style := terminal.Plain
		if o.DestroysData {
			style = terminal.Warning
		}
		rows = append(rows, []terminal.Cell{{Text: o.Instance}, {Text: o.Node}, {Text: o.Orphaned.Reason}, {Text: o.Effect, Style: style}})
		for _, warning := range o.cautions() {
			rows = append(rows, []terminal.Cell{{}, {}, {}, {Text: "  " + warning, Style: terminal.Warning}})
		}
	}
	out.Table("", head, rows)
	rows = nil
	for _, l := range left {
		rows = append(rows, terminal.Row(l.Instance, l.Node, l.Orphaned.Reason, l.Reason))
	}
	if len(rows) > 0 && len(chosen) > 0 {
		out.Line("")
	}
	out.Table("", []string{"LEFT ALONE", "NODE", "WHY", "REASON"}, rows)
}
