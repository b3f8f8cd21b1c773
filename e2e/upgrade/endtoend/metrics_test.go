package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/testkit/alerts"
)

const root = "../../.."

// exported are the metrics that the running binaries registered: their labels, by controller and name.
type exported map[string]map[string][]string

func export(s *fixture.Scenario) exported {
	out := exported{}
	for _, controller := range s.Controllers() {
		all, err := s.DescribedMetrics(s.Ctx, controller)
		require.NoError(s.T, err)
		require.NotEmpty(s.T, all, controller)
		out[controller] = map[string][]string{}
		for _, metric := range all {
			require.NotEmpty(s.T, metric.Help, metric.Name)
			out[controller][metric.Name] = metric.Labels
		}
	}
	return out
}

func prefix(controller string) string {
	return "drover_" + strings.ReplaceAll(controller, "-", "_") + "_"
}

// named are the exported metrics of an expression with their labels; missing has those that a controller that must export them does not.
// Its own metrics must be exported by a controller, those of libraries by each of the given ones.
func (e exported) named(expr string, by []string) (labels, missing []string) {
	for _, name := range alerts.Metrics(expr) {
		for _, controller := range by {
			own := strings.HasPrefix(name, prefix(controller))
			aloneOfAll := controller == world.APIGateway && len(by) > 1 // it neither leads nor reconciles
			if !own && (strings.HasPrefix(name, "drover_") || aloneOfAll) {
				continue
			}
			found, ok := e[controller][name]
			if !ok && strings.HasSuffix(name, "_bucket") {
				found, ok = e[controller][strings.TrimSuffix(name, "_bucket")]
			}
			if !ok {
				missing = append(missing, name+" of "+controller)
			}
			labels = append(labels, found...)
		}
		owned := slices.ContainsFunc(by, func(c string) bool { return strings.HasPrefix(name, prefix(c)) })
		if strings.HasPrefix(name, "drover_") && !owned {
			missing = append(missing, name)
		}
	}
	return labels, missing
}

var (
	selected = regexp.MustCompile(`[{,]\s*([a-z_]+)\s*(?:=~|!~|!=|=)`)
	grouped  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	// targets are the labels that Prometheus adds to whatever it scrapes, and to histograms.
	targets = []string{"namespace", "pod", "job", "le"}
)

// requireLabels checks that the metrics of an expression have the labels by which it selects and groups.
func requireLabels(t *testing.T, expr string, labels []string) {
	t.Helper()
	var used []string
	for _, found := range selected.FindAllStringSubmatch(expr, -1) {
		used = append(used, found[1])
	}
	for _, found := range grouped.FindAllStringSubmatch(expr, -1) {
		used = append(used, strings.Split(strings.ReplaceAll(found[1], " ", ""), ",")...)
	}
	for _, label := range used {
		require.True(t, slices.Contains(targets, label) || slices.Contains(labels, label), "no metric of %s has the label %s", expr, label)
	}
}

// An alert on what nothing exports never fires. Of two names of a metric one is enough: see alerts.Rule.Alternatives.
func TestMetricsOfAlertsAreExportedWithTheirLabels(t *testing.T) {
	s := fixture.Begin(t)
	all := export(s)
	rules, err := alerts.Read(filepath.Join(root, "docs/alerts/rules.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, rules)
	for _, rule := range rules {
		if isOfDiskController(rule.Expr) {
			continue
		}
		var missed []string
		whole := slices.ContainsFunc(rule.Alternatives(), func(expr string) bool {
			labels, missing := all.named(expr, s.Controllers())
			missed = append(missed, missing...)
			if len(missing) == 0 {
				requireLabels(t, expr, labels)
			}
			return len(missing) == 0
		})
		require.True(t, whole, "alert %s: %v", rule.Alert, missed)
	}
	for _, controller := range s.Controllers() {
		if controller == world.APIGateway {
			continue
		}
		lines, err := s.Metrics(s.Ctx, controller)
		require.NoError(t, err)
		require.Contains(t, lines, `leader_election_master_status{name="drover-`+controller+`"} 1`)
	}
}

// isOfDiskController reports whether an expression is about disk-controller, which does not run here: its own package compares its metrics
// with its alerts and its dashboard.
func isOfDiskController(expr string) bool {
	return strings.Contains(expr, prefix(world.DiskController))
}

func TestMetricsOfPanelsAreExportedWithTheirLabels(t *testing.T) {
	s := fixture.Begin(t)
	all := export(s)
	files, err := filepath.Glob(filepath.Join(root, "docs/dashboards/*.json"))
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == world.DiskController+".json" })
	require.Len(t, files, len(s.Controllers())+1, "a page for each, and one for all")
	names := map[string]bool{}
	for _, file := range files {
		by := []string{strings.TrimSuffix(filepath.Base(file), ".json")}
		if by[0] == "drover" {
			by = s.Controllers()
		}
		for _, expr := range expressions(t, file) {
			if strings.Contains(expr, "ALERTS{") {
				continue // Prometheus' own
			}
			labels, missing := all.named(expr, by)
			require.Empty(t, missing, "%s: %s", file, expr)
			requireLabels(t, expr, labels)
			for _, name := range alerts.Metrics(expr) {
				names[strings.TrimSuffix(name, "_bucket")] = true
			}
		}
	}
	for controller, metrics := range all {
		for name := range metrics {
			require.True(t, names[name] || !strings.HasPrefix(name, "drover_"), "%s of %s is on no panel", name, controller)
		}
	}
}

func expressions(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var page struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	require.NoError(t, json.Unmarshal(text, &page))
	var all []string
	for _, panel := range page.Panels {
		for _, target := range panel.Targets {
			all = append(all, target.Expr)
		}
	}
	require.NotEmpty(t, all, file)
	return all
}

var metricName = regexp.MustCompile(`drover_[a-z_]+`)

// Each controller's README lists its metrics, with their labels.
func TestEveryMetricIsDocumentedAndEveryDocumentedOneIsExported(t *testing.T) {
	s := fixture.Begin(t)
	count := 0
	for controller, metrics := range export(s) {
		readme, err := os.ReadFile(filepath.Join(root, controller, "README.md"))
		require.NoError(t, err)
		_, section, found := strings.Cut(string(readme), "\n## Metrics\n")
		require.True(t, found, controller)
		section, _, _ = strings.Cut(section, "\n## ")
		var exports []string
		for name, labels := range metrics {
			if !strings.HasPrefix(name, "drover_") {
				continue
			}
			exports = append(exports, name)
			require.True(t, strings.HasPrefix(name, prefix(controller)), "%s is a metric of %s", name, controller)
			for line := range strings.Lines(section) {
				for _, label := range labels {
					require.True(t, !strings.Contains(line, "`"+name) || strings.Contains(line, label), "%s has no label %s: %s", name, label, line)
				}
			}
		}
		require.ElementsMatch(t, exports, metricName.FindAllString(section, -1), "%s/README.md", controller)
		count += len(exports)
	}
	t.Logf("%d metrics of Drover are exported and documented", count)
}
