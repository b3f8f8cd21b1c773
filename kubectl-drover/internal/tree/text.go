package tree

import (
	"slices"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
)

// Names returns all objects of the tree.
func (r Report) Names() []string { return names(r.Entry) }

func names(e Entry) []string {
	var out []string
	if e.Object.Kind != "Ticket" {
		out = append(out, e.Object.Resource())
	}
	for _, one := range e.Entries {
		out = append(out, names(one)...)
	}
	return out
}

// Text writes the tree for people.
func (r Report) Text(p *terminal.Printer) {
	r.line(p, r.Entry, "", "")
	for _, unread := range r.Unread {
		p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
	}
}

// line writes one entry, and what belongs to it below. first stands before its own line, then before those below.
func (r Report) line(p *terminal.Printer, e Entry, first, then string) {
	style := finding.Style(finding.Worst(e.Findings))
	p.Line("%s%s", first, join(p.In(terminal.Bold, e.Object.String())+p.In(style, e.state()), e.Detail))
	below := then
	if len(e.Entries) > 0 {
		below += "│ "
	} else {
		below += "  "
	}
	for _, f := range e.Findings {
		age := ""
		if since := terminal.Age(r.world.Now, f.Since); since != "" {
			age = " (" + since + ")"
		}
		p.Line("%s  %s%s", below, p.In(finding.Style(f.Severity), strings.TrimSuffix(f.Reason+": "+f.Message, ": ")),
			p.In(terminal.Dim, age))
	}
	for i, one := range e.Entries {
		if i == len(e.Entries)-1 {
			r.line(p, one, then+"└─ ", then+"   ")
			continue
		}
		r.line(p, one, then+"├─ ", then+"│  ")
	}
}

// state is what stands behind the object's name: an instance without a state was never started.
func (e Entry) state() string {
	if e.State == "" && slices.Contains([]string{"Engine", "EngineFrontend", "Replica", "InstanceManager"}, e.Object.Kind) {
		return " not started"
	}
	return strings.TrimSuffix(" "+e.State, " ")
}

// join returns the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

func on(node string) string {
	if node == "" {
		return ""
	}
	return "on " + node
}
