package upgradecontroller

import (
	"github.com/prometheus/client_golang/prometheus"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// metrics are those of this controller. Gauges carry names of objects, of which there are few: one for each upgrade, and
// one for each volume of the node that is being upgraded.
type metrics struct {
	transitions                       *prometheus.CounterVec
	planState, nodeState, nodeStalled *prometheus.GaugeVec
	volumeState                       *prometheus.GaugeVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		transitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "drover_upgrade_controller_transitions_total",
			Help: "States that were entered, of whole upgrades (kind manager) and of nodes (kind node).",
		}, []string{"kind", "state"}),
		planState: gauge("drover_upgrade_controller_manager_state", "1 for the state that a DataEngineUpgradeManager is in.", "manager",
			"state"),
		nodeState: gauge("drover_upgrade_controller_node_state", "1 for the state that a NodeDataEngineUpgrade is in.", "upgrade", "node",
			"state"),
		nodeStalled: gauge("drover_upgrade_controller_node_stalled",
			"1 while a step of a NodeDataEngineUpgrade takes longer than its timeout.", "upgrade", "node"),
		volumeState: gauge("drover_upgrade_controller_volume_state", "1 for the state of a volume whose node is being upgraded.", "upgrade",
			"volume", "state"),
	}
	registry.MustRegister(m.transitions, m.planState, m.nodeState, m.nodeStalled, m.volumeState)
	return m
}

func (m *metrics) node(u *v1beta2.NodeDataEngineUpgrade, now v1beta2.NodeDataEngineUpgradeStatus) {
	if u.Status.State != now.State {
		m.transitions.WithLabelValues("node", now.State).Inc()
	}
	m.nodeGone(u.Name)
	m.nodeState.WithLabelValues(u.Name, u.Spec.NodeID, now.State).Set(1)
	stalled := 0.0
	if conditions.IsTrue(now.Conditions, v1beta2.UpgradeStalled) {
		stalled = 1
	}
	m.nodeStalled.WithLabelValues(u.Name, u.Spec.NodeID).Set(stalled)
	if now.State == v1beta2.UpgradeStateCompleted || now.State == v1beta2.UpgradeStateError {
		return
	}
	for volume, x := range now.Volumes {
		m.volumeState.WithLabelValues(u.Name, volume, x.State).Set(1)
	}
}

func (m *metrics) nodeGone(name string) {
	gone := prometheus.Labels{"upgrade": name}
	m.nodeState.DeletePartialMatch(gone)
	m.nodeStalled.DeletePartialMatch(gone)
	m.volumeState.DeletePartialMatch(gone)
}

func (m *metrics) plan(manager *v1beta2.DataEngineUpgradeManager, now v1beta2.DataEngineUpgradeManagerStatus) {
	if manager.Status.State != now.State {
		m.transitions.WithLabelValues("manager", now.State).Inc()
	}
	m.planGone(manager.Name)
	m.planState.WithLabelValues(manager.Name, now.State).Set(1)
}

func (m *metrics) planGone(name string) {
	m.planState.DeletePartialMatch(prometheus.Labels{"manager": name})
}
