package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Count is how many results have an outcome.
func Count(results []Result, outcome Outcome) int {
	n := 0
	for _, r := range results {
		if r.Outcome == outcome {
			n++
		}
	}
	return n
}

// Line writes a result as a line of a running report.
func Line(w io.Writer, r Result) {
	fmt.Fprintf(w, "%-8s %6.1f s  %-36s %s\n", r.Outcome, r.Seconds, r.Check, cmp.Or(r.Reason, r.Name))
}

// Summary writes the outcome of a run for people: what failed, what was not run and why, and the figures.
func Summary(w io.Writer, results []Result) error {
	for _, outcome := range []Outcome{NotRun, Failed} {
		if Count(results, outcome) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n", outcome)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, r := range results {
			if r.Outcome == outcome {
				fmt.Fprintf(table, "  %s\t%s\n", r.Check, r.Name)
				fmt.Fprintf(table, "  \t  %s\n", r.Reason)
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\n%d checks: %d passed, %d failed, %d not run\n", len(results), Count(results, Passed),
		Count(results, Failed),
		Count(results, NotRun))
	return err
}

// Report is the outcome of a run for programs.
type Report struct {
	Run     string            `json:"run"`
	Servers map[string]string `json:"servers"`
	Passed  int               `json:"passed"`
	Failed  int               `json:"failed"`
	NotRun  int               `json:"notRun"`
	Results []Result          `json:"results"`
}

// JSON writes the outcome of a run for programs. Servers are the versions of the managers by data engine.
func JSON(w io.Writer, run string, servers map[string]string, results []Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(Report{Run: run, Servers: servers, Passed: Count(results, Passed), Failed: Count(results, Failed),
		NotRun: Count(results,
			NotRun),
		Results: slices.Clone(results)})
}
