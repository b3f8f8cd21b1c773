package enginecontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	polls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_engine_looks_total",
		Help: "Polls of running engines, by result: seen, failed.",
	}, []string{"result"})
	calls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_engine_calls_total",
		Help: "Calls that change an engine, by what they ask for (add, remove, expand, clone, restore, revert, purge, set-…) " +
			"and how they ended: ok, failed.",
	}, []string{"op", "result"})
	stranded = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_im_monitor_rebuilds_stranded_total",
		Help: "Replicas that stayed write-only after their rebuild had ended, because its caller was gone, and that are rebuilt again.",
	})
)

func init() {
	metrics.Registry.MustRegister(polls, calls, stranded)
	// An alert does not see the first events of a counter that appears with them.
	polls.WithLabelValues("failed")
	calls.WithLabelValues("add", "failed")
}
