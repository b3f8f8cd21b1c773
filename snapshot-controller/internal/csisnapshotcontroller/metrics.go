package csisnapshotcontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

// metrics are those of this part. Labels are from closed sets.
type metrics struct {
	leading  prometheus.Gauge
	verdicts *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		leading: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "drover_snapshot_controller_csi_leading",
			Help: "1 while this process holds the csi-snapshotter's lease.",
		}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_snapshot_controller_csi_verdicts_total",
			Help: "Verdicts on VolumeSnapshotContents that were written, by what was written and the state that it leads to.",
		}, []string{"step", "reason"}),
	}
	registry.MustRegister(m.leading, m.verdicts)
	return m
}

func (m *metrics) lead(leading bool) {
	if leading {
		m.leading.Set(1)
		return
	}
	m.leading.Set(0)
}

func (m *metrics) record(v csisnapshot.Verdict) {
	m.verdicts.WithLabelValues(string(v.Step), string(v.Outcome)).Inc()
}
