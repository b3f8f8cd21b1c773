package controller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// metrics are those of this controller. Labels are from closed sets.
type metrics struct {
	verdicts       *prometheus.CounterVec
	deletions      *prometheus.CounterVec
	wouldDelete    *prometheus.CounterVec
	settingInvalid *prometheus.GaugeVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_orphan_controller_verdicts_total",
			Help: "Verdicts that were written, by what was written and why.",
		}, []string{"step", "reason"}),
		deletions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_orphan_controller_deletions_total",
			Help: "Orphans deleted by policy.",
		}, []string{"reason", "data_engine"}),
		wouldDelete: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_orphan_controller_would_delete_total",
			Help: "Orphans that policy would have deleted in a dry run.",
		}, []string{"data_engine"}),
		settingInvalid: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "drover_orphan_controller_setting_invalid",
			Help: "1 while the setting's value is invalid.",
		}, []string{"setting"}),
	}
	registry.MustRegister(m.verdicts, m.deletions, m.wouldDelete, m.settingInvalid)
	// Create every counter at 0: an alert does not see the first increment of a counter that appears with it.
	for _, reason := range []string{v1beta2.ReasonFlood, v1beta2.ReasonLastCopy, v1beta2.ReasonNotAbandoned, v1beta2.ReasonMappedByEngine} {
		m.verdicts.WithLabelValues(string(orphan.StepConditions), reason)
	}
	return m
}

func (m *metrics) record(o *v1beta2.Orphan, v orphan.Verdict) {
	m.verdicts.WithLabelValues(string(v.Step), v.Outcome).Inc()
	switch v.Event {
	case orphan.EventDeleted:
		m.deletions.WithLabelValues(deletionReason(o), dataEngine(o)).Inc()
	case orphan.EventWouldDelete:
		m.wouldDelete.WithLabelValues(dataEngine(o)).Inc()
	}
}

func deletionReason(o *v1beta2.Orphan) string {
	return conditions.Reason(o.Status.Conditions, v1beta2.OrphanDeletionReason)
}

func dataEngine(o *v1beta2.Orphan) string {
	if o.Spec.DataEngine == v1beta2.DataEngineV2 {
		return v1beta2.DataEngineV2
	}
	return v1beta2.DataEngineV1
}
