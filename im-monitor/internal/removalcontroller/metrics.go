package removalcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/api/v1beta2"
)

// resultHeld is the result of a try whose approval does not count now.
const resultHeld = "Held"

var (
	tries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_replica_removal_tries_total",
		Help: "Tries to destroy the data of a deleted replica, by result: Accepted, NotFound, Disagreed, Held (its approval does not " +
			"count now), Observed, or the reason of DataRemoved.",
	}, []string{"result"})
	ended = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_replica_removals_total",
		Help: "Deleted replicas whose data is gone or out of reach, by reason: Removed, NothingToRemove, NodeGone.",
	}, []string{"reason"})
)

func init() {
	metrics.Registry.MustRegister(tries, ended)
	// An alert does not see the first events of a counter that appears with them.
	for _, reason := range []string{v1beta2.ReasonUnreachable, v1beta2.ReasonMappedByEngine, v1beta2.ReasonUUIDMismatch} {
		tries.WithLabelValues(reason)
	}
}
