package backupexecutor

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/api/v1beta2"
)

var (
	calls = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_backup_calls_total",
		Help: "Backups that were requested from engines, by the result of the call: ok, failed, unanswered.",
	}, []string{"result"})
	ends = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_backups_ended_total",
		Help: "Backups that ended, by their state: Completed, Error.",
	}, []string{"state"})
)

func init() {
	metrics.Registry.MustRegister(calls, ends)
	// An alert does not see the first event of a counter that appears with it.
	ends.WithLabelValues(v1beta2.BackupError)
}
