package removalcontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/shared/api/v1beta2"
)

type metrics struct{ removals *prometheus.CounterVec }

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{removals: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_disk_controller_directory_removals_total",
		Help: "Attempts to remove the directory of a deleted v1 replica, by result: Removed, NothingToRemove, DirectoryFailed.",
	}, []string{"reason"})}
	registry.MustRegister(m.removals)
	for _, reason := range []string{v1beta2.ReasonRemoved, v1beta2.ReasonNothingToRemove, v1beta2.ReasonDirectoryFailed} {
		m.removals.WithLabelValues(reason)
	}
	return m
}
