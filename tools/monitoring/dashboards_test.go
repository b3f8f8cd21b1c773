package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/alerts"
)

const dashboardsDir = "../../docs/dashboards"

// page is a dashboard as Grafana reads it.
type page struct {
	UID        string
	Title      string
	Tags       []string
	Templating struct {
		List []struct{ Name, Type string }
	}
	Panels []shown
}

type shown struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ UID string }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readPages(t *testing.T) map[string]page {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dashboardsDir, "*.json"))
	require.NoError(t, err)
	pages := map[string]page{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var p page
		require.NoError(t, json.Unmarshal(text, &p), file)
		pages[strings.TrimSuffix(filepath.Base(file), ".json")] = p
	}
	return pages
}

func TestTheDashboardsAreThoseOfTheSources(t *testing.T) {
	all := dashboards()
	require.Len(t, readPages(t), len(all))
	require.Len(t, all, len(controllers)+1)
	for _, d := range all {
		want, err := encode(d)
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dashboardsDir, d.name+".json"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "%s: run make dashboards", d.name)
	}
}

func TestADashboardHasAStableIdentityAndItsVariables(t *testing.T) {
	for name, p := range readPages(t) {
		require.Equal(t, "drover-"+name, p.UID)
		require.LessOrEqual(t, len(p.UID), 40, "the longest uid that Grafana accepts")
		require.NotEmpty(t, p.Title)
		require.Equal(t, []string{"drover"}, p.Tags)
		require.Len(t, p.Templating.List, 2)
		require.Equal(t, "datasource", p.Templating.List[0].Name)
		require.Equal(t, "namespace", p.Templating.List[1].Name)
	}
}

func TestPanelsAreWholeAndDoNotOverlap(t *testing.T) {
	count := 0
	for name, p := range readPages(t) {
		ids, titles := map[int]bool{}, map[string]bool{}
		taken := map[[2]int]string{}
		for _, panel := range p.Panels {
			require.False(t, ids[panel.ID] || panel.ID == 0, "%s: %s has the id of another panel", name, panel.Title)
			ids[panel.ID] = true
			require.False(t, titles[panel.Type+panel.Title], "%s has two panels %s", name, panel.Title)
			titles[panel.Type+panel.Title] = true
			at := panel.GridPos
			require.True(t, at.W > 0 && at.H > 0 && at.X >= 0 && at.Y >= 0 && at.X+at.W <= 24, "%s: %s", name, panel.Title)
			for x := at.X; x < at.X+at.W; x++ {
				for y := at.Y; y < at.Y+at.H; y++ {
					require.Empty(t, taken[[2]int{x, y}], "%s: %s overlaps", name, panel.Title)
					taken[[2]int{x, y}] = panel.Title
				}
			}
			if panel.Type == "row" {
				continue
			}
			count++
			requireWhole(t, name, panel)
		}
	}
	t.Logf("%d panels", count)
}

var sentence = regexp.MustCompile(`^[A-Z0-9].*[^.]\.$`)

func requireWhole(t *testing.T, name string, p shown) {
	t.Helper()
	require.Contains(t, []string{"stat", "timeseries"}, p.Type)
	require.Regexp(t, sentence, p.Description, "%s: %s", name, p.Title)
	require.Contains(t, []string{"short", "ops", "s", "bytes", "dateTimeFromNow"}, p.FieldConfig.Defaults.Unit, "%s: %s", name, p.Title)
	require.Equal(t, "${datasource}", p.Datasource.UID)
	require.NotEmpty(t, p.Targets, "%s: %s", name, p.Title)
	var refs []string
	for _, target := range p.Targets {
		refs = append(refs, target.RefID)
		metrics := readExpression(t, target.Expr)
		require.True(t, strings.Contains(target.Expr, `namespace=~"$namespace"`) || slices.Equal(metrics, []string{"ALERTS"}), target.Expr)
		requireLegendOfLabels(t, target.Expr, target.LegendFormat)
	}
	slices.Sort(refs)
	require.Len(t, slices.Compact(refs), len(p.Targets), "%s: %s", name, p.Title)
}

// readExpression parses PromQL as Grafana sends it, and returns the names of its metrics.
func readExpression(t *testing.T, expr string) []string {
	t.Helper()
	expr = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*").Replace(expr)
	require.NotContains(t, expr, "$", "an unknown variable")
	parsed, err := promQL.ParseExpr(expr)
	require.NoError(t, err, expr)
	var names []string
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			require.NotEmpty(t, selector.Name, "%s: a metric without a name", expr)
			names = append(names, selector.Name)
		}
		return nil
	})
	slices.Sort(names)
	require.NotEmpty(t, names, expr)
	return slices.Compact(names)
}

var labelOfLegend = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)

// requireLegendOfLabels checks that an aggregation keeps the labels that the legend shows.
func requireLegendOfLabels(t *testing.T, expr, legend string) {
	t.Helper()
	parsed, err := promQL.ParseExpr(strings.NewReplacer("$__rate_interval", "5m").Replace(expr))
	require.NoError(t, err)
	if call, ok := parsed.(*parser.Call); ok && len(call.Args) == 2 {
		parsed = call.Args[1] // histogram_quantile
	}
	aggregate, ok := parsed.(*parser.AggregateExpr)
	for _, label := range labelOfLegend.FindAllStringSubmatch(legend, -1) {
		require.True(t, !ok || slices.Contains(aggregate.Grouping, label[1]), "%s has no label %s", expr, label[1])
	}
}

// Other tests read the names of metrics without a parser.
func TestMetricsOfRulesAndPanelsAreWhatTheParserReads(t *testing.T) {
	rules, err := alerts.Read(filepath.Join(alertsDir, "rules.yaml"))
	require.NoError(t, err)
	var all []string
	for _, rule := range rules {
		all = append(all, rule.Expr)
	}
	for _, p := range readPages(t) {
		for _, panel := range p.Panels {
			for _, target := range panel.Targets {
				all = append(all, target.Expr)
			}
		}
	}
	var named []string
	for _, expr := range all {
		names := slices.DeleteFunc(readExpression(t, expr), func(name string) bool { return name == "ALERTS" }) // Prometheus' own
		require.ElementsMatch(t, names, alerts.Metrics(expr), expr)
		named = append(named, names...)
	}
	slices.Sort(named)
	t.Logf("%d expressions name %d metrics", len(all), len(slices.Compact(named)))
}
