package orphancontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/api/v1beta2"
)

var (
	nonDecisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_orphan_non_decisions_total",
		Help: "Transitions of an instance into a state that the orphan evaluation leaves undecided, by reason.",
	}, []string{"reason"})
	undecidedNow = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "drover_im_monitor_orphan_undecided",
		Help: "Instances that the orphan evaluation leaves undecided now, by reason.",
	}, []string{"reason"})
	created = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_orphans_created_total",
		Help: "Orphan objects created, by rule and data engine.",
	}, []string{"reason", "data_engine"})
	withdrawn = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_orphans_withdrawn_total",
		Help: "Orphan objects withdrawn, by reason.",
	}, []string{"reason"})
	deletions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_orphan_deletions_total",
		Help: "Attempts to delete the instance of an approved Orphan, by result: Accepted, NotFound, Disagreed, or the reason of " +
			"CleanupFailed.",
	}, []string{"result", "data_engine"})
	terminatedTotal = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_im_monitor_orphans_terminated_total",
		Help: "Deleted Orphans whose instance's end was proven.",
	})
)

func init() {
	metrics.Registry.MustRegister(nonDecisions, undecidedNow, created, withdrawn, deletions, terminatedTotal)
	// An alert does not see the first events of a counter that appears with them.
	for _, reason := range []string{v1beta2.ReasonUnreachable, v1beta2.ReasonRefused, v1beta2.ReasonStillPresent,
		v1beta2.ReasonMappedByEngine, v1beta2.ReasonLastCopy} {
		deletions.WithLabelValues(reason, v1beta2.DataEngineV1)
		deletions.WithLabelValues(reason, v1beta2.DataEngineV2)
	}
}
