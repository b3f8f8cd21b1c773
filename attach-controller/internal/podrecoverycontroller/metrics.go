package podrecoverycontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var actions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_attach_controller_pod_recoveries_total",
	Help: "What was done for pods that lost their volume, or whose node is down: delete, detach, force-delete.",
}, []string{"action"})

func init() { metrics.Registry.MustRegister(actions) }
