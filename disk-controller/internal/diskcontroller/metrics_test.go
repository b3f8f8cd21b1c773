package diskcontroller

import (
	"os"
	"regexp"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// asked finds a metric of an expression, and the label by which the expression groups or selects it.
var (
	asked  = regexp.MustCompile(`drover_disk_controller_[a-z_]+`)
	labels = regexp.MustCompile(`by \((\w+)\) \(?(?:increase\()?(drover_disk_controller_[a-z_]+)`)
)

// An alert or a panel on a metric that nothing exports shows nothing. A counter exists before its first event.
func TestMetricsOfAlertsAndPanelsAreExportedWithTheirLabels(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := newMetrics(registry)
	m.record(&v1beta2.Node{}, map[string]*v1beta2.DiskStatus{"disk-1": {DiskType: v1beta2.DiskTypeFilesystem}})
	families, err := registry.Gather()
	require.NoError(t, err)
	exported := map[string]string{}
	for _, family := range families {
		require.NotEmpty(t, family.GetHelp(), family.GetName())
		for _, label := range family.GetMetric()[0].GetLabel() {
			exported[family.GetName()] += label.GetName()
		}
	}
	shown := map[string]bool{}
	for _, file := range []string{"alerts/rules.yaml", "dashboards/disk-controller.json"} {
		text, err := os.ReadFile("../../../docs/" + file)
		require.NoError(t, err)
		for _, name := range asked.FindAllString(string(text), -1) {
			require.Contains(t, exported, name, file)
			shown[name] = true
		}
		for _, found := range labels.FindAllStringSubmatch(string(text), -1) {
			require.Equal(t, exported[found[2]], found[1], "%s: the label of %s", file, found[2])
		}
	}
	for name := range exported {
		require.True(t, shown[name], "%s is on no panel and in no alert", name)
	}
}
