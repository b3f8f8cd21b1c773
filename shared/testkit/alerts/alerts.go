// Package alerts reads rules for Prometheus, for tests about them.
package alerts

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// RunbookBase is what the address of each runbook begins with.
const RunbookBase = "https://drover.dev/docs/alerts/"

// Rule is one alert of a file of rules.
type Rule struct {
	Alert, Expr, For string
	Labels           map[string]string
	Annotations      map[string]string
}

// Read returns the alerts of all groups of a file.
func Read(path string) ([]Rule, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading alerts: %w", err)
	}
	var file struct {
		Groups []struct{ Rules []Rule }
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", path, err)
	}
	var out []Rule
	for _, group := range file.Groups {
		out = append(out, group.Rules...)
	}
	return out, nil
}

// Alternatives are the expressions of which one has to hold. Binaries are rolled out one by one, so an alert asks for a metric by its
// names in two minor versions.
func (r Rule) Alternatives() []string { return strings.Split(r.Expr, " or ") }

var (
	// noMetric matches what an expression has beside metrics and functions: texts, selectors, ranges, and lists of labels.
	noMetric   = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`)
	identifier = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b\s*\(?`)
	operators  = []string{"and", "or", "unless", "bool", "offset", "by", "on", "ignoring", "without"}
)

// Metrics are the names of the metrics that a PromQL expression reads, each once, in order.
func Metrics(expr string) []string {
	var names []string
	for _, name := range identifier.FindAllString(noMetric.ReplaceAllString(expr, " "), -1) {
		if name = strings.TrimSpace(name); !strings.HasSuffix(name, "(") && !slices.Contains(operators, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
