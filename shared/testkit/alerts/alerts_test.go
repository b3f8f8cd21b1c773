package alerts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetricsOfAnExpression(t *testing.T) {
	for expr, names := range map[string][]string{
		`up`: {"up"},
		`sum by (result) (increase(a_total{result=~"by (x) b_total"}[30m])) > 5`:           {"a_total"},
		`min(b_seconds) - time() < 7 * 24 * 3600`:                                          {"b_seconds"},
		`max by (setting) (b_one or a_two) > bool 0`:                                       {"a_two", "b_one"},
		`histogram_quantile(0.9, sum by (le, method) (rate(c_bucket[$__rate_interval])))`:  {"c_bucket"},
		`sum(a_total) by (pod) / on (pod) group_left (node) c_info offset 5m unless b_two`: {"a_total", "b_two", "c_info"},
	} {
		require.Equal(t, names, Metrics(expr), expr)
	}
}

func TestReadReturnsTheAlertsOfEveryGroup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`groups:
- name: one
  rules: [{alert: A, expr: a or b, for: 5m, labels: {severity: info}, annotations: {summary: It is.}}]
- name: two
  rules: [{alert: B, expr: c}]
`), 0o600))
	rules, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, []Rule{
		{Alert: "A", Expr: "a or b", For: "5m", Labels: map[string]string{"severity": "info"},
			Annotations: map[string]string{"summary": "It is."}},
		{Alert: "B", Expr: "c"}}, rules)
	require.Equal(t, []string{"a", "b"}, rules[0].Alternatives())
	_, err = Read(filepath.Join(t.TempDir(), "none.yaml"))
	require.Error(t, err)
}
