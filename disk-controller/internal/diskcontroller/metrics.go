package diskcontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// metrics are the metrics of this controller. Labels are from closed sets.
type metrics struct {
	disks    *prometheus.GaugeVec
	prepared *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{disks: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "drover_disk_controller_disks",
		Help: "v1 disks of the node, by the reason of their condition Ready.",
	}, []string{"reason"}), prepared: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_disk_controller_prepared_total",
		Help: "Directories that were given their configuration file, by result: ok, or error.",
	}, []string{"result"})}
	registry.MustRegister(m.disks, m.prepared)
	m.prepared.WithLabelValues("ok") // an alert does not see the first increment of a counter that appears with it
	m.prepared.WithLabelValues("error")
	return m
}

// record counts the v1 disks of the node as they are with the changes.
func (m *metrics) record(n *v1beta2.Node, changes map[string]*v1beta2.DiskStatus) {
	m.disks.Reset()
	m.disks.WithLabelValues(v1beta2.ReasonDiskReady).Set(0)
	for key, recorded := range n.Status.DiskStatus {
		if _, changed := changes[key]; !changed && recorded.DiskType != v1beta2.DiskTypeBlock {
			m.count(&recorded)
		}
	}
	for _, d := range changes {
		if d != nil {
			m.count(d)
		}
	}
}

func (m *metrics) count(d *v1beta2.DiskStatus) {
	m.disks.WithLabelValues(conditions.Reason(d.Conditions, v1beta2.DiskReady)).Inc()
}
