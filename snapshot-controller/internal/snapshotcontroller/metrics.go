package snapshotcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

var verdicts = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_verdicts_total",
	Help: "Verdicts that were written, by what was written and why.",
}, []string{"step", "reason"})

func init() { metrics.Registry.MustRegister(verdicts) }

func count(v snapshot.Verdict) { verdicts.WithLabelValues(string(v.Step), v.Reason).Inc() }
