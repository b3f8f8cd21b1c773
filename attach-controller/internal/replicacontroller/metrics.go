package replicacontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var actions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "drover_attach_controller_replica_actions_total",
	Help: "What was done with replicas: create, take-back, delete, approve, release.",
}, []string{"action"})

func init() { metrics.Registry.MustRegister(actions) }
