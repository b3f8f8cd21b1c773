package recurringcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// What was done for jobs, as the label of the metric.
const (
	doneRun    = "run"
	doneCreate = "create"
	doneDelete = "delete"
)

var done = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_recurring_total",
	Help: "Runs of recurring jobs that came to their end, and Snapshots and Backups created and deleted for them.",
}, []string{"what"})

var paused = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "drover_snapshot_controller_recurring_job_paused",
	Help: "1 while a recurring job passes volumes over, because what it deleted of them is not removed.",
}, []string{"recurring_job"})

func init() { metrics.Registry.MustRegister(done, paused) }
