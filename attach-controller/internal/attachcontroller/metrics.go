package attachcontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
)

var (
	decisions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_attach_controller_spec_changes_total",
		Help: "Changes of the wanted node of a volume, by the row of the decision table that applied.",
	}, []string{"row"})
	answered = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_attach_controller_ticket_answers_total",
		Help: "Answers to attachment tickets that changed, by their reason.",
	}, []string{"reason"})
	waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "drover_attach_controller_tickets_blocked",
		Help: "Attachment tickets that are not served now for a reason that a user must resolve, by that reason.",
	}, []string{"reason"})
	overtaken = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "drover_attach_controller_answers_overtaken_total",
		Help: "Answers that were not given because the volume had changed since it was evaluated.",
	})
)

// alarming are the answers with a reason that a user must resolve.
var alarming = []string{
	v1beta2.ReasonNoNode, v1beta2.ReasonNodeUnknown, v1beta2.ReasonNodeNotReady, v1beta2.ReasonNodeCordoned, v1beta2.ReasonDataLocality,
	v1beta2.ReasonTooManyTickets, v1beta2.ReasonAttachedWithIncompatibleParameters, v1beta2.ReasonVolumeFaulted,
	v1beta2.ReasonTargetElsewhere, v1beta2.ReasonDataNodeDown,
}

func init() {
	metrics.Registry.MustRegister(decisions, answered, waiting, overtaken)
	// An alert misses the first event of a counter that appears with it.
	for _, reason := range alarming {
		answered.WithLabelValues(reason)
	}
}

// count counts what was written.
func count(v attach.Verdict, done []attach.Step, turned []turn) {
	for _, step := range done {
		if step.Kind == attach.StepSpec {
			decisions.WithLabelValues(string(v.Row)).Inc()
		}
	}
	for _, t := range turned {
		answered.WithLabelValues(t.now.Reason).Inc()
	}
}
