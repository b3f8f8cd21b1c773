package doctor

import (
	"fmt"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// Report is what waits for a person.
type Report struct {
	Namespace string            `json:"namespace"`
	Severity  finding.Severity  `json:"severity"`
	Findings  []finding.Finding `json:"findings"`
	Unread    []world.Unread    `json:"unread,omitempty"`

	world *world.World
}

// Of returns the report of a world.
func Of(w *world.World) Report {
	findings := Examine(w)
	return Report{Namespace: w.Namespace, Severity: finding.Worst(findings), Findings: findings, Unread: w.Unread, world: w}
}

// Names returns the objects, each once.
func (r Report) Names() []string {
	out, seen := []string{}, map[string]bool{}
	for _, f := range r.Findings {
		if name := f.Object.Resource(); !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// manyAlike is how many findings of one kind and reason are shown as one.
const manyAlike = 4

// Text writes the findings for people: those of one kind and reason as one, if they are many.
func (r Report) Text(p *terminal.Printer) {
	if len(r.Findings) == 0 {
		p.Line("%s", p.In(terminal.Good, "Nothing waits for a person in namespace "+r.Namespace+"."))
	}
	for i := 0; i < len(r.Findings); {
		alike := 1
		for i+alike < len(r.Findings) && isAlike(r.Findings[i], r.Findings[i+alike]) {
			alike++
		}
		if alike < manyAlike {
			alike = 1
		}
		r.text(p, r.Findings[i:i+alike])
		i += alike
	}
	for _, unread := range r.Unread {
		p.Line("%s", p.In(terminal.Dim, "Not examined: "+unread.Reason))
	}
}

func isAlike(a, b finding.Finding) bool {
	return a.Object.Kind == b.Object.Kind && a.Condition == b.Condition && a.Reason == b.Reason && a.Severity == b.Severity
}

func (r Report) text(p *terminal.Printer, alike []finding.Finding) {
	f := alike[0]
	title := f.Object.String()
	if f.Part != "" {
		title += ", " + f.Part
	}
	if len(alike) > 1 {
		title += fmt.Sprintf(" and %d more", len(alike)-1)
	}
	since := ""
	if age := terminal.Age(r.world.Now, f.Since); age != "" {
		since = p.In(terminal.Dim, " ("+age+")")
	}
	p.Line("%s %s: %s%s", p.In(finding.Style(f.Severity), strings.ToUpper(f.Severity.String())), p.In(terminal.Bold, title), f.Reason,
		since)
	if f.Message != "" {
		p.Line("  %s", f.Message)
	}
	if f.Command != "" {
		p.Line("  %s", f.Command)
	}
	if f.Guide != "" {
		p.Line("  %s", p.In(terminal.Dim, f.Guide))
	}
	p.Line("")
}
