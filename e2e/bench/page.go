package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

const pageHead = `# Performance

Written by ` + "`make bench`" + `; do not edit. Each table is of the newest measurement of its group, or of a part of it that was measured since.
Counts are exact. Times are medians or percentiles of the number of runs in the column n, with the smallest and the largest of them in
brackets, on the machine that is named: a load above its number of processors at the start means that it did other work meanwhile. A missed
goal is in bold.

` + "`make bench BENCH=orphan`" + ` measures a group again, ` + "`make bench-check BENCH=orphan`" + ` fails where a figure is more than 20 % worse than the
mean of those that are kept for the same machine (docs/performance.json, the last 5).
`

// page renders the newest measurements of each group, the groups in the order of the command.
func (h History) page() string {
	var out strings.Builder
	out.WriteString(pageHead)
	for _, g := range groups() {
		newest := h.newest(g.name)
		if len(newest) > 0 {
			fmt.Fprintf(&out, "\n## %s\n", g.name)
		}
		for _, m := range newest {
			fmt.Fprintf(&out, "\n%s, commit %s, %s, load %.1f: `%s`.\n\n", m.Date, m.Commit, m.Machine, m.Load, m.command())
			out.WriteString("| figure | value | goal | n | note |\n|---|---|---|---|---|\n")
			for _, r := range m.Results {
				fmt.Fprintf(&out, "| %s | %s | %s | %d | %s |\n", r.Name, r.shown(), r.goal(), r.Runs, strings.ReplaceAll(r.Note, "|", "\\|"))
			}
		}
	}
	return out.String()
}

// newest are the last measurement of a group with the default options, if there is any, and the last ones with each of the other
// options, such as one part of the group, that are newer. Figures of a part that was measured since are left out of earlier ones.
func (h History) newest(group string) (found []Measurement) {
	for _, m := range h {
		if m.Group != group {
			continue
		}
		found = slices.DeleteFunc(found, func(x Measurement) bool { return m.Options == "" || x.Options == m.Options })
		if strings.Contains(m.Options, "-part=") {
			for i := range found {
				found[i].Results = found[i].without(m)
			}
			found = slices.DeleteFunc(found, func(x Measurement) bool { return len(x.Results) == 0 })
		}
		found = append(found, m)
	}
	return found
}

// without are the results that a newer measurement does not have.
func (m Measurement) without(newer Measurement) []Result {
	return slices.DeleteFunc(slices.Clone(m.Results), func(r Result) bool {
		return slices.ContainsFunc(newer.Results, func(n Result) bool { return n.Name == r.Name })
	})
}

// command repeats the measurement.
func (m Measurement) command() string {
	text := "make bench BENCH=" + m.Group
	if m.Options != "" {
		text += fmt.Sprintf(" BENCH_FLAGS=%q", m.Options)
	}
	return text
}

func (r Result) shown() string {
	text := number(r.Value) + " " + r.Unit
	if r.Spread[0] != r.Spread[1] {
		text += fmt.Sprintf(" [%s, %s]", number(r.Spread[0]), number(r.Spread[1]))
	}
	if r.Goal != "" && !met(r.Value, r.Goal) {
		return "**" + text + "**"
	}
	return text
}

func (r Result) goal() string {
	return strings.NewReplacer("<=", "≤", ">=", "≥").Replace(r.Goal)
}

func (h History) writePage(path string) error {
	if err := os.WriteFile(path, []byte(h.page()), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
