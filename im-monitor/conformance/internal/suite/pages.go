package suite

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// RealOnly is a behaviour that only a real server can show.
type RealOnly struct{ What, Why string }

// Page is the text of the pages that are generated from the checks.
type Page struct {
	Checks   []Check
	RealOnly []RealOnly
	Ledger   Ledger
}

// marks enclose what is generated.
const (
	markBegin = "<!-- generated from the conformance checks: make generate -->"
	markEnd   = "<!-- end of the generated part -->"
)

// Replace puts a text between the marks of a file.
func Replace(path, text string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a page: %w", err)
	}
	before, rest, found := strings.Cut(string(raw), markBegin)
	_, after, ended := strings.Cut(rest, markEnd)
	if !found || !ended {
		return fmt.Errorf("page %s has no generated part: it needs the lines %q and %q", path, markBegin, markEnd)
	}
	if err := os.WriteFile(path, []byte(before+markBegin+"\n"+text+markEnd+after), 0o644); err != nil {
		return fmt.Errorf("writing a page: %w", err)
	}
	return nil
}

// Behaviour is what the simulator's page reports: the checks by data engine and section, the assumptions, and what it cannot show.
func (p Page) Behaviour() string {
	var out strings.Builder
	for _, engine := range []string{"v1", "v2"} {
		fmt.Fprintf(&out, "\n### %s\n| behaviour | contract | check |\n|---|---|---|\n", engine)
		for _, c := range p.Checks {
			if c.Engine == engine {
				fmt.Fprintf(&out, "| %s | %s | `%s` |\n", cell(c.Name), c.Contract, c.ID)
			}
		}
	}
	out.WriteString("\n### Assumed where the contract is silent\n")
	for _, c := range p.Checks {
		if c.Assumption != "" {
			fmt.Fprintf(&out, "- `%s`: %s\n", c.ID, c.Assumption)
		}
	}
	out.WriteString("\n### What only a real server can show\n")
	for _, r := range p.RealOnly {
		fmt.Fprintf(&out, "- %s: %s\n", r.What, r.Why)
	}
	return out.String()
}

// List is what the suite's own page reports: each check with its needs and the last real server, and which check answers which finding.
func (p Page) List() string {
	var out strings.Builder
	out.WriteString("\n## What checks need\n| need | what it is | flags |\n|---|---|---|\n")
	for _, p := range Provisions() {
		fmt.Fprintf(&out, "| %s | %s | `%s` |\n", p.Need, p.What, strings.ReplaceAll(p.Flags, "%s", "<engine>"))
	}
	out.WriteString(p.onRealServers())
	fmt.Fprintf(&out, "\n## The %d checks\n| check | needs beside an instance manager | last real server |\n|---|---|---|\n", len(p.Checks))
	for _, c := range p.Checks {
		var needs []string
		for _, n := range c.Needs {
			needs = append(needs, string(n))
		}
		fmt.Fprintf(&out, "| `%s`: %s | %s | %s |\n", c.ID, cell(c.Name), cell(strings.Join(needs, ", ")), p.Ledger[c.ID])
	}
	out.WriteString("\n## Which check answers which finding\n| finding | check | behaviour |\n|---|---|---|\n")
	for _, finding := range p.findings() {
		for _, c := range p.Checks {
			if slices.Contains(c.Findings, finding) {
				fmt.Fprintf(&out, "| %s | `%s` | %s |\n", finding, c.ID, cell(c.Name))
			}
		}
	}
	return out.String()
}

// onRealServers counts what passed on real servers, by data engine and by server, and names the rest with its reason.
func (p Page) onRealServers() string {
	var out strings.Builder
	out.WriteString("\n## What passed on real servers\n")
	out.WriteString("| data engine | checks | passed on a real server | only on the simulator |\n|---|---|---|---|\n")
	servers := map[string]int{}
	for _, engine := range []string{"v1", "v2"} {
		all, passed := 0, 0
		for _, c := range p.Checks {
			if c.Engine != engine {
				continue
			}
			all++
			if e := p.Ledger[c.ID]; !e.OnlySimulator {
				passed++
				servers["| "+engine+" | "+cell(e.Version)+" | "+e.Date+" |"]++
			}
		}
		fmt.Fprintf(&out, "| %s | %d | %d | %d |\n", engine, all, passed, all-passed)
	}
	out.WriteString("\n| data engine | real server | date | checks |\n|---|---|---|---|\n")
	for _, row := range slices.Sorted(maps.Keys(servers)) {
		fmt.Fprintf(&out, "%s %d |\n", row, servers[row])
	}
	out.WriteString("\n| passed only on the simulator | why |\n|---|---|\n")
	for _, c := range p.Checks {
		if e := p.Ledger[c.ID]; e.OnlySimulator {
			fmt.Fprintf(&out, "| `%s` | %s |\n", c.ID, cell(e.Reason))
		}
	}
	return out.String()
}

// findings are those that any check answers, in order.
func (p Page) findings() []string {
	var out []string
	for _, c := range p.Checks {
		out = append(out, c.Findings...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
