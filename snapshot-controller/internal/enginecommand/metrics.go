package enginecommand

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name:    "drover_snapshot_controller_backup_command_seconds",
	Help:    "How long commands of the engine about backup targets took, by the command.",
	Buckets: []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 60, 300, 1800},
}, []string{"command"})

func init() { metrics.Registry.MustRegister(seconds) }
