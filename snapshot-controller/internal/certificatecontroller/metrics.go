package certificatecontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	// expiry has no labels; where no webhook is served there is no such metric.
	expiry = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "drover_snapshot_controller_webhook_certificate_expiry_timestamp_seconds",
		Help: "When the certificate that this process serves the webhook with expires, in seconds since 1970; 0: it has none.",
	}, nil)
	steps = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_snapshot_controller_webhook_certificate_steps_total",
		Help: "What the leader did about the webhook's certificate.",
	}, []string{"step"})
)

func init() { metrics.Registry.MustRegister(expiry, steps) }
