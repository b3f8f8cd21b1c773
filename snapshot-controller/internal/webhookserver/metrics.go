package webhookserver

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var answers = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_snapshot_controller_webhook_answers_total",
	Help: "Answers to the API server about Snapshots, by the webhook and what was reported: allowed, refused, failed.",
}, []string{"webhook", "answer"})

func init() { metrics.Registry.MustRegister(answers) }

func count(name string, r admission.Response) admission.Response {
	answer := "allowed"
	if !r.Allowed {
		answer = "refused"
	}
	answers.WithLabelValues(name, answer).Inc()
	return r
}
