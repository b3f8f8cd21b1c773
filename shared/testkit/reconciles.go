package testkit

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Reconciles is how many keys the controllers of that name in this process reconciled so far: tests that count do not run beside others.
func Reconciles(t testing.TB, controller string) int {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	count := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "controller" && l.GetValue() == controller {
					count += m.GetCounter().GetValue()
				}
			}
		}
	}
	return int(count)
}
