package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"drover.dev/drover/e2e/world"
)

// head is the beginning of the page.
const head = `# Rules and their mutants

Written by ` + "`make generate`" + ` from the lists in e2e/faults.

Each rule below is left out once by ` + "`make rules`" + `: one of its tests must fail, else the rule is superfluous or no test would notice that it
broke. One rule alone: ` + "`go run ./e2e/faults --rules=all --only \"lower first\"`" + `.
`

// page lists every rule and mutant: where it is, and what must notice that it is missing.
func page() string {
	out := &strings.Builder{}
	out.WriteString(head)
	for _, group := range []struct {
		title string
		rules []rule
	}{{"Attaching", attachRules()}, {"Replicas and disks", replicaRules()}, {"Moving targets and upgrading nodes", moveRules()},
		{"Snapshots, backups and copies", dataRules()}, {"Pods and images", imageRules()}, {"Engine images", engineImageRules()},
		{"Orphans", orphanRules()}, {"Directories", directoryRules()}, {"Leaders", fenceRules()}} {
		fmt.Fprintf(out, "\n## %s\n| rule | name | where | tests |\n|---|---|---|---|\n", group.title)
		for _, r := range group.rules {
			fmt.Fprintf(out, "| %s | %s | %s | %s |\n", r.sentence, r.name, places(r.edits), packages(slices.Concat(r.tests, r.model)))
		}
	}
	out.WriteString("\n## Mistakes that the fault harness must detect\nBuilt into the controllers, one after the other, by `make faults`; a scenario " +
		"with real processes must fail.\n\n| mistake | name | where | scenario |\n|---|---|---|---|\n")
	for _, m := range mutants() {
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", m.sentence, m.name, places(m.edits), m.testCase.scenario.ID)
	}
	return out.String()
}

// places are the functions, or files, that the edits change, each once.
func places(edits []world.Edit) string {
	var out []string
	for _, e := range edits {
		place := "`" + strings.TrimPrefix(e.File, "./") + "`"
		if e.Func != "" {
			place = "`" + path.Base(e.File) + "." + e.Func + "`"
		}
		if !slices.Contains(out, place) {
			out = append(out, place)
		}
	}
	return strings.Join(out, ", ")
}

// packages are the tests, without what they are run with.
func packages(tests []string) string {
	var out []string
	for _, test := range tests {
		if pkg := "`" + strings.TrimPrefix(strings.Fields(test)[0], "./") + "`"; !slices.Contains(out, pkg) {
			out = append(out, pkg)
		}
	}
	return strings.Join(out, ", ")
}
