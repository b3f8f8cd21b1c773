package backupcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var verdicts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_backup_verdicts_total",
	Help: "Verdicts about Backups that were written, by what was written and why.",
}, []string{"step", "reason"})

func init() { metrics.Registry.MustRegister(verdicts) }
