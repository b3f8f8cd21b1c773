package machinecontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/attach-controller/internal/machine"
)

var volumeEvents = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_attach_controller_volume_events_total",
	Help: "What happened to volumes, by the reason of its event.",
}, []string{"reason"})

func init() {
	metrics.Registry.MustRegister(volumeEvents)
	// An alert misses the first event of a counter that appears with it.
	for _, reason := range []string{machine.EventFaulted, machine.EventCloneFailed} {
		volumeEvents.WithLabelValues(reason)
	}
}
