package testkit

import (
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// AlertRule is one alert of a file of rules for Prometheus.
type AlertRule struct{ Alert, Expr string }

// AlertRules reads the alerts of all groups of a file.
func AlertRules(path string) ([]AlertRule, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading alerts: %w", err)
	}
	var file struct {
		Groups []struct{ Rules []AlertRule }
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", path, err)
	}
	var out []AlertRule
	for _, group := range file.Groups {
		out = append(out, group.Rules...)
	}
	return out, nil
}

// Alternatives are the expressions of which one has to hold. Binaries are rolled out one by one, so an alert asks for a metric by its names in
// two minor versions.
func (r AlertRule) Alternatives() []string { return strings.Split(r.Expr, " or ") }
