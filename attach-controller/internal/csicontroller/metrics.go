package csicontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/attach-controller/internal/csi"
)

// metrics are those of this part. Labels are from closed sets.
type metrics struct {
	leading  prometheus.Gauge
	verdicts *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		leading: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "drover_attach_controller_csi_leading",
			Help: "1 while this process holds the external-attacher's lease.",
		}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_attach_controller_csi_verdicts_total",
			Help: "Verdicts on VolumeAttachments of Kubernetes that were written, by the state that they lead to.",
		}, []string{"reason"}),
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

func (m *metrics) record(v csi.Verdict) { m.verdicts.WithLabelValues(string(v.Outcome)).Inc() }
