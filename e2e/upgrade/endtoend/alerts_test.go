package endtoend

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/shared/testkit/alerts"
)

// growing is a counter whose growth an alert watches, with the label of the alert's selector.
var growing = regexp.MustCompile(`increase\((drover_[a-z_]+)(?:\{(\w+)=~?"([^"]+)"\})?\[`)

// An alert on a counter's growth misses the first event of a series that starts with it: so all series exist from the start.
func TestCountersOfAlertsExistFromTheStart(t *testing.T) {
	s := fixture.Begin(t)
	rules, err := alerts.Read("../../../docs/alerts/rules.yaml")
	require.NoError(t, err)
	shown := map[string][]string{}
	for _, controller := range s.Controllers() {
		prefix := "drover_" + strings.ReplaceAll(controller, "-", "_") + "_"
		shown[prefix], err = s.Metrics(s.Ctx, controller)
		require.NoError(t, err)
	}
	watched := 0
	for _, rule := range rules {
		if !growing.MatchString(rule.Expr) {
			continue
		}
		watched++
		require.True(t, slices.ContainsFunc(rule.Alternatives(), func(expr string) bool { return allShown(shown, expr) }),
			"alert %s: %s", rule.Alert, rule.Expr)
	}
	require.NotZero(t, watched)
}

// allShown reports whether every series whose growth the expression asks for is among the metrics, by prefix of their binary.
func allShown(shown map[string][]string, expr string) bool {
	for _, f := range growing.FindAllStringSubmatch(expr, -1) {
		name, label, values := f[1], f[2], strings.Split(f[3], "|")
		for prefix, lines := range shown {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			for _, value := range values {
				if !slices.ContainsFunc(lines, func(line string) bool {
					return strings.HasPrefix(line, name) && (label == "" || strings.Contains(line, label+`="`+value+`"`))
				}) {
					return false
				}
			}
		}
	}
	return true
}
