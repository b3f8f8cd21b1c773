package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const alertsDir = "../../docs/alerts"

var promQL = parser.NewParser(parser.Options{})

// testFile is what promtool test rules reads, as far as these tests need it. Other fields are refused.
type testFile struct {
	RuleFiles          []string       `json:"rule_files"`
	EvaluationInterval model.Duration `json:"evaluation_interval"`
	Tests              []ruleTest     `json:"tests"`
}

type ruleTest struct {
	Name        string         `json:"name"`
	Interval    model.Duration `json:"interval"`
	InputSeries []struct {
		Series string `json:"series"`
		Values string `json:"values"`
	} `json:"input_series"`
	AlertRuleTest []alertTest `json:"alert_rule_test"`
}

// alertTest is what fires at a time: nothing, or exactly these alerts of the name.
type alertTest struct {
	EvalTime  model.Duration `json:"eval_time"`
	Alertname string         `json:"alertname"`
	ExpAlerts []struct {
		ExpLabels      map[string]string `json:"exp_labels"`
		ExpAnnotations map[string]string `json:"exp_annotations"`
	} `json:"exp_alerts"`
}

func readTests(t *testing.T) testFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(alertsDir, "rules_test.yaml"))
	require.NoError(t, err)
	var file testFile
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	require.Equal(t, []string{"rules.yaml"}, file.RuleFiles)
	return file
}

func TestEveryAlertFiresWithItsLabelsAndIsSilentOtherwise(t *testing.T) {
	file := readTests(t)
	for _, test := range file.Tests {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			fired := test.evaluate(t, time.Duration(file.EvaluationInterval))
			for i, expected := range test.AlertRuleTest {
				var want []string
				for _, alert := range expected.ExpAlerts {
					alert.ExpLabels["alertname"] = expected.Alertname
					want = append(want, describe(labels.FromMap(alert.ExpLabels), labels.FromMap(alert.ExpAnnotations)))
				}
				require.ElementsMatch(t, want, fired[i], "at %s", expected.EvalTime)
			}
		})
	}
}

// evaluate evaluates the rules as Prometheus does, and returns what fires at the time of each expectation.
func (r ruleTest) evaluate(t *testing.T, interval time.Duration) [][]string {
	t.Helper()
	var load strings.Builder
	fmt.Fprintf(&load, "load %s\n", r.Interval)
	for _, series := range r.InputSeries {
		fmt.Fprintf(&load, "  %s %s\n", series.Series, series.Values)
	}
	suite, err := promqltest.NewLazyLoader(load.String(), promqltest.LazyLoaderOpts{})
	require.NoError(t, err)
	defer func() { require.NoError(t, suite.Close()) }()
	group, fired := loadRules(t, suite, interval), make([][]string, len(r.AlertRuleTest))
	for since, left := time.Duration(0), len(fired); left > 0; since += interval {
		require.Less(t, since, 24*time.Hour, "the times of expectations are multiples of the interval")
		now := time.Unix(0, 0).UTC().Add(since)
		suite.WithSamplesTill(now, func(err error) {
			require.NoError(t, err)
			group.Eval(suite.Context(), now)
		})
		for i, at := range r.AlertRuleTest {
			if since == time.Duration(at.EvalTime) {
				fired[i] = firing(t, group, at.Alertname)
				left--
			}
		}
	}
	return fired
}

// firing are the alerts of a name that fire now, with their labels and annotations.
func firing(t *testing.T, group *rules.Group, name string) []string {
	t.Helper()
	var out []string
	for _, rule := range group.AlertingRules() {
		require.NoError(t, rule.LastError(), rule.Name())
		for _, alert := range rule.ActiveAlerts() {
			if rule.Name() == name && alert.State == rules.StateFiring {
				out = append(out, describe(alert.Labels, alert.Annotations))
			}
		}
	}
	return out
}

func loadRules(t *testing.T, suite *promqltest.LazyLoader, interval time.Duration) *rules.Group {
	t.Helper()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(suite.QueryEngine(), suite.Storage()), Appendable: suite.Storage(),
		Context: context.Background(), NotifyFunc: func(context.Context, string, ...*rules.Alert) {},
		Logger: slog.New(slog.DiscardHandler), Parser: promQL,
	})
	groups, errs := manager.LoadGroups(interval, labels.EmptyLabels(), "", nil, false, filepath.Join(alertsDir, "rules.yaml"))
	require.Empty(t, errs)
	require.Len(t, groups, 1)
	for _, group := range groups {
		for _, rule := range group.AlertingRules() {
			rule.SetRestored(true)
		}
		return group
	}
	return nil
}

func describe(of, annotations labels.Labels) string { return of.String() + "\n" + annotations.String() }

// A rule is named by its alert, and by its controller where several have one of its name.
func TestEveryRuleHasATestThatFiresAndOneThatIsSilent(t *testing.T) {
	suite, err := promqltest.NewLazyLoader("load 1m\n", promqltest.LazyLoaderOpts{})
	require.NoError(t, err)
	defer func() { require.NoError(t, suite.Close()) }()
	file, tested := readTests(t), map[string]int{}
	for _, test := range file.Tests {
		for _, at := range test.AlertRuleTest {
			for _, alert := range at.ExpAlerts {
				tested[at.Alertname+alert.ExpLabels["controller"]+" fires"]++
			}
			if strings.HasSuffix(test.Name, " is silent") && len(at.ExpAlerts) == 0 {
				controller, _ := strings.CutPrefix(strings.TrimSuffix(test.Name, " is silent"), at.Alertname+" of ")
				tested[at.Alertname+strings.TrimPrefix(controller, at.Alertname)+" is silent"]++
			}
		}
	}
	all := loadRules(t, suite, time.Minute).AlertingRules()
	require.NotEmpty(t, all)
	for _, rule := range all {
		for _, kind := range []string{" fires", " is silent"} {
			require.NotZero(t, tested[rule.Name()+rule.Labels().Get("controller")+kind], "%s: no test in which it%s", rule.Name(), kind)
		}
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, test := range file.Tests {
			if !yield(test.Name) {
				return
			}
		}
	})
	slices.Sort(names)
	require.Len(t, slices.Compact(names), len(file.Tests), "two tests of one name")
	t.Logf("%d rules, %d tests", len(all), len(file.Tests))
}
