package instancecontroller

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/shared/api/v1beta2"
)

var (
	callsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_instance_calls_total",
		Help: "Calls for the instances of Engines, EngineFrontends and Replicas, by operation (create, delete, switch-over), kind and " +
			"outcome: Accepted, AlreadyExists, NotFound, Refused, Unreachable.",
	}, []string{"op", "kind", "outcome"})
	transitionsTotal = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "drover_im_monitor_instance_transitions_total",
		Help: "Changes of status.currentState of Engines, EngineFrontends and Replicas, by kind and new state.",
	}, []string{"kind", "state"})
	waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "drover_im_monitor_instances_waiting",
		Help: "Engines, EngineFrontends and Replicas that are not as wanted, by kind and reason.",
	}, []string{"kind", "reason"})
)

func init() { metrics.Registry.MustRegister(callsTotal, transitionsTotal, waiting) }

// stateLabel keeps the label's values few, whatever a server reports.
func stateLabel(state string) string {
	switch state {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended, v1beta2.InstanceStateStopped, v1beta2.InstanceStateError,
		v1beta2.InstanceStateStarting, v1beta2.InstanceStateStopping:
		return state
	}
	return v1beta2.InstanceStateUnknown
}
