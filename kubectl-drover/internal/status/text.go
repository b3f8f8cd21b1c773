package status

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/shared/api/v1beta2"
)

// Names returns the controllers' deployments and the nodes.
func (r Report) Names() []string {
	var out []string
	for _, c := range r.Controllers {
		out = append(out, finding.Ref{Kind: "Deployment", Name: c.Name}.Resource())
	}
	for _, n := range r.Nodes {
		out = append(out, finding.Ref{Kind: "Node", Name: n.Name}.Resource())
	}
	return out
}

// Text writes one screen for people.
func (r Report) Text(p *terminal.Printer) {
	r.head(p)
	p.Line("")
	p.Table("", []string{"CONTROLLER", "VERSION", "CONTRACT", "PODS", "LEADER", "RENEWED"}, r.controllers())
	p.Line("")
	p.Table("", []string{"NODE", "READY", "VOLUMES", "DISK", "TYPE", "STATE", "FREE", "PROMISED", "SIZE"}, r.nodes())
	p.Line("")
	p.Table("", []string{"ENGINE", "VOLUMES", "IMAGE", "INSTANCE MANAGERS"}, r.engines())
	p.Line("")
	p.Table("", []string{"", ""}, r.counts())
	for _, u := range r.Upgrades {
		p.Line("")
		parts := slices.DeleteFunc([]string{u.State, u.Progress, u.Node, u.Step}, func(part string) bool { return part == "" })
		if len(parts) == 0 {
			parts = []string{"not begun"}
		}
		to := ""
		if u.Image != "" {
			to = " to " + u.Image
		}
		p.Line("upgrade %s%s: %s", u.Name, to, strings.Join(parts, ", "))
		if u.Waits != "" {
			p.Line("  %s", shortened(u.Waits))
		}
	}
	for _, unread := range r.Unread {
		p.Line("%s", p.In(terminal.Dim, "Not shown: "+unread.Reason))
	}
}

// longest is how many characters of a message one screen has room for; doctor has all of it.
const longest = 200

func shortened(text string) string {
	if letters := []rune(text); len(letters) > longest {
		return string(letters[:longest]) + " …"
	}
	return text
}

// head is what a person has to know first.
func (r Report) head(p *terminal.Printer) {
	if len(r.worst) == 0 {
		p.Line("%s", p.In(terminal.Good, "Drover in namespace "+r.Namespace+" is well: nothing waits for a person."))
		return
	}
	counts := counted(r.Findings, []string{finding.Critical.String(), finding.Warning.String(), finding.Info.String()})
	if r.Findings[finding.Warning.String()] > 1 {
		counts = strings.Replace(counts, "warning", "warnings", 1)
	}
	p.Line("%s", p.In(finding.Style(r.Severity),
		fmt.Sprintf("Drover in namespace %s: %s. All of them: %s", r.Namespace, counts, r.world.Suggest("kubectl drover doctor -n {ns}", nil))))
	for _, f := range r.worst {
		p.Line("  %s", p.In(finding.Style(f.Severity), fmt.Sprintf("%s: %s", f.Object, f.Reason)))
	}
}

// counted returns "2 critical, 1 warning" of those that are there, in the order of names, and then the others.
func counted(counts map[string]int, names []string) string {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var parts []string
	for _, name := range names {
		if counts[name] > 0 {
			parts = append(parts, strconv.Itoa(counts[name])+" "+name)
		}
	}
	return strings.Join(parts, ", ")
}

func (r Report) controllers() [][]terminal.Cell {
	var rows [][]terminal.Cell
	for _, c := range r.Controllers {
		pods, leader := terminal.Cell{Text: fmt.Sprintf("%d/%d", c.Ready, c.Wanted)}, terminal.Cell{Text: c.Leader}
		if c.Ready < c.Wanted {
			pods.Style = terminal.Warning
		}
		if c.Wanted == 0 {
			pods.Text = "-"
		}
		if c.Leader == "" {
			leader = terminal.Cell{Text: "none", Style: terminal.Bad}
		}
		renewed := terminal.Cell{Text: terminal.Age(r.world.Now, c.RenewedAt)}
		rows = append(rows, []terminal.Cell{{Text: c.Name}, {Text: orDash(c.Version)}, r.contracts(c), pods, leader, renewed})
	}
	for _, contract := range slices.Sorted(maps.Keys(r.Contract.Installed)) {
		cell := terminal.Cell{Text: orDash(contract)}
		if contract != v1beta2.ContractVersion {
			cell.Style = terminal.Warning
		}
		name := fmt.Sprintf("definitions (%d)", r.Contract.Installed[contract])
		rows = append(rows, []terminal.Cell{{Text: name}, {Text: "-"}, cell})
	}
	return rows
}

// contracts are those of the definitions that the controller knows; one that is installed and that it does not know is a warning.
func (r Report) contracts(c finding.Controller) terminal.Cell {
	cell := terminal.Cell{Text: orDash(strings.Join(c.Contracts, ", "))}
	for installed := range r.Contract.Installed {
		if len(c.Contracts) > 0 && !slices.Contains(c.Contracts, installed) {
			cell.Style = terminal.Warning
		}
	}
	return cell
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func (r Report) nodes() [][]terminal.Cell {
	var rows [][]terminal.Cell
	for _, n := range r.Nodes {
		first := []terminal.Cell{{Text: n.Name}, state(n.Ready, n.Reason), {Text: strconv.Itoa(n.Attached)}}
		if n.Ready && !n.Schedulable {
			first[1] = terminal.Cell{Text: "ready, no new replicas", Style: terminal.Warning}
		}
		if len(n.Disks) == 0 {
			rows = append(rows, first)
		}
		for _, d := range n.Disks {
			rows = append(rows, append(first, terminal.Cell{Text: d.Name}, terminal.Cell{Text: d.Type}, state(d.Ready, d.Reason),
				terminal.Cell{Text: terminal.Size(d.Available)}, terminal.Cell{Text: terminal.Size(d.Scheduled)},
				terminal.Cell{Text: terminal.Size(d.Maximum)}))
			first = make([]terminal.Cell, 3)
		}
	}
	return rows
}

func state(ready bool, reason string) terminal.Cell {
	if ready {
		return terminal.Cell{Text: "ready", Style: terminal.Good}
	}
	return terminal.Cell{Text: reason, Style: terminal.Bad}
}

func (r Report) engines() [][]terminal.Cell {
	var rows [][]terminal.Cell
	for _, e := range r.Engines {
		first := terminal.Row(e.Name, strconv.Itoa(e.Volumes))
		if len(e.Images) == 0 {
			rows = append(rows, append(first, terminal.Cell{Text: "no instance manager", Style: terminal.Warning}))
		}
		for _, i := range e.Images {
			image, managers := terminal.Cell{Text: i.Image}, terminal.Cell{Text: fmt.Sprintf("%d/%d running", i.Running, i.Managers)}
			if e.Wanted != "" && i.Image != e.Wanted {
				image = terminal.Cell{Text: i.Image + " (wanted: " + e.Wanted + ")", Style: terminal.Warning}
			}
			if i.Running < i.Managers {
				managers.Style = terminal.Warning
			}
			rows = append(rows, append(first, image, managers))
			first = make([]terminal.Cell, 2)
		}
	}
	return rows
}

func (r Report) counts() [][]terminal.Cell {
	s, targets := r.Snapshots, r.targets()
	backups := total(r.Backups.Total, counted(r.Backups.State, nil), targets)
	if r.Backups.Total == 0 && targets != "" { // one that is not available shows before the first backup
		backups += "; " + targets
	}
	return [][]terminal.Cell{
		{{Text: "volumes"}, {Text: total(r.Volumes.Total, terminal.Size(r.Volumes.SizeBytes), counted(r.Volumes.State, nil),
			counted(r.Volumes.Robustness, nil))}},
		{{Text: "snapshots"}, {Text: total(s.Total, counted(map[string]int{"ready": s.Ready, "waiting": s.Waiting, "failed": s.Failed,
			"deleting": s.Deleting}, []string{"ready", "waiting", "failed", "deleting"}))}},
		{{Text: "backups"}, {Text: backups}},
		{{Text: "orphans"}, {Text: total(r.Orphans.Total, counted(r.Orphans.Why, nil), counted(r.Orphans.Decision, nil),
			counted(map[string]int{"failing": r.Orphans.Failing}, nil))}},
	}
}

func (r Report) targets() string {
	var parts []string
	for _, t := range r.Backups.Targets {
		text := "target " + t.Name
		if !t.Available {
			text += " not available"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// total returns a number and the parts that are not empty: "3: 2 attached, 1 detached; 3 healthy".
func total(number int, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	if number == 0 || len(parts) == 0 {
		return strconv.Itoa(number)
	}
	return strconv.Itoa(number) + ": " + strings.Join(parts, "; ")
}
