package machinecontroller

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// seen is what im-monitor reports of an instance.
type seen struct {
	state, ip, uuid string
	port            int
	nodeDown        bool
}

// next is one step of an instance. On a node that is down nothing is seen, and the end is concluded once every replica
// that can be reached has stopped.
func (p *plane) next(name, node, desired string, was seen, may bool, replicas []v1beta2.Replica) seen {
	wanted := desired == v1beta2.InstanceStateRunning
	switch {
	case p.still[name]:
		return was
	case p.down[node] && !wanted && was.state != v1beta2.InstanceStateStopped && (was.state == "" || p.cutOff(replicas)):
		return seen{state: v1beta2.InstanceStateStopped, nodeDown: true}
	case p.down[node]:
		if was.state == v1beta2.InstanceStateRunning {
			was.state = v1beta2.InstanceStateUnknown
		}
		return was
	case !wanted:
		return seen{state: v1beta2.InstanceStateStopped}
	case was.state == v1beta2.InstanceStateError || was.state == v1beta2.InstanceStateRunning && p.broken[name]:
		was.state = v1beta2.InstanceStateError
		return was
	case was.state == v1beta2.InstanceStateRunning, !may:
		return was
	case p.broken[name]:
		return seen{state: v1beta2.InstanceStateError}
	case was.uuid != "": // it was out of sight
		was.state = v1beta2.InstanceStateRunning
		return was
	}
	p.runs++
	return seen{state: v1beta2.InstanceStateRunning, ip: "ip-of-" + node, uuid: fmt.Sprintf("run-%d-%s", p.runs, name), port: 10000 +
		p.runs}
}

func (p *plane) cutOff(replicas []v1beta2.Replica) bool {
	for _, r := range replicas {
		if !p.down[r.Spec.NodeID] && (r.Status.CurrentState != v1beta2.InstanceStateStopped ||
			r.Spec.DesireState == v1beta2.InstanceStateRunning) {
			return false
		}
	}
	return true
}
