package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/e2e/record"
)

// Result is one line of bench.json.
type Result struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Goal is a bound like "<= 50", or empty where the value is only stated.
	Goal string `json:"goal"`
	// Runs is how many values the one above is the median or percentile of.
	Runs int `json:"runs"`
	// Spread is the smallest and the largest of them.
	Spread [2]float64 `json:"spread"`
	Note   string     `json:"note,omitempty"`
}

// report prints results as they come and writes them at the end.
type report struct {
	out     io.Writer
	results []Result
}

func (r *report) logf(format string, args ...any) {
	fmt.Fprintf(r.out, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
}

// add prints one result with whether its goal was met. A missed goal is a finding, not a failure of the benchmark.
func (r *report) add(result Result) {
	r.results = append(r.results, result)
	verdict := ""
	if result.Goal != "" {
		verdict = "goal " + result.Goal
		if !met(result.Value, result.Goal) {
			verdict += "  MISSED"
		}
	}
	fmt.Fprintf(r.out, "  %-44s %12s %-8s %-22s n=%d [%s, %s] %s\n", result.Name, number(result.Value), result.Unit, verdict,
		result.Runs, number(result.Spread[0]), number(result.Spread[1]), result.Note)
}

func (r *report) write(path string) error {
	content, err := json.MarshalIndent(r.results, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the results: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// met reports whether a value keeps a goal of the form "<= n" or ">= n" or "n".
func met(value float64, goal string) bool {
	var bound float64
	text := strings.TrimLeft(goal, "<>= ")
	if _, err := fmt.Sscan(text, &bound); err != nil {
		return false
	}
	switch {
	case strings.HasPrefix(goal, "<="):
		return value <= bound
	case strings.HasPrefix(goal, ">="):
		return value >= bound
	}
	return value == bound
}

func number(value float64) string {
	if value == math.Trunc(value) && math.Abs(value) < 1e9 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.2f", value)
}

// percentile is the value below which the share p of the values lies (nearest rank).
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

func median(values []float64) float64 { return percentile(values, 0.5) }

func spread(values []float64) [2]float64 {
	if len(values) == 0 {
		return [2]float64{}
	}
	return [2]float64{slices.Min(values), slices.Max(values)}
}

// writeLine is a write as a log shows it: when it ended, its answer, writer, request, and the start of its body.
func writeLine(w record.Write, began time.Time) string {
	return fmt.Sprintf("%6.1f ms  %d  %s  %v  %.250s", milliseconds(w.Ended.Sub(began)), w.Code, w.User, w.Request, w.Body)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
