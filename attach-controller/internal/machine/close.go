package machine

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// closing stops the instances of a volume.
type closing struct{ *draft }

// close stops frontend, engine and replicas in this order, and reports whether everything is proven stopped. An instance on a down node
// does not delay the next step; close waits for its end last.
func (c closing) close() bool {
	if c.secondFrontend == nil && !c.stopInstances(c.frontend, nil) {
		return false // it may lead to either engine
	}
	others := c.stopOtherEngines()
	second := c.stopInstances(c.secondFrontend, c.second)
	first := c.stopInstances(c.frontend, c.engine)
	if !first || !second || !others {
		return false
	}
	if c.state == v1beta2.VolumeStateDetaching {
		c.failByLastModes()
	}
	c.failUnreachableReplicas()
	if !c.stopReplicas() || !c.allStopped() {
		return false
	}
	c.deleteSecondProcesses()
	c.deleteSecond()
	return c.forgetModes()
}

// failUnreachableReplicas marks the replicas on down nodes before the first reachable one is stopped: from then on an engine on a down node
// could write to them alone. Without a reachable healthy replica nothing is concluded.
func (c closing) failUnreachableReplicas() {
	if !c.engineMayStillWrite() {
		return
	}
	for _, r := range c.Replicas {
		if c.healthy(r) && c.nodeDown(r.Spec.NodeID) && c.otherHealthyReachable(r.Name) {
			c.fail(r, "its node "+r.Spec.NodeID+" is down while the volume is detached")
		}
	}
}

// engineMayStillWrite reports whether an engine ran over the replicas, and may still run.
func (f Facts) engineMayStillWrite() bool {
	for _, e := range f.Engines {
		if !f.stopped(ofEngine(e)) || f.state == v1beta2.VolumeStateDetaching && len(e.Spec.ReplicaAddressMap) > 0 {
			return true
		}
	}
	for _, frontend := range f.Frontends {
		if !f.stopped(ofFrontend(frontend)) {
			return true
		}
	}
	return false
}

func (c closing) stopReplicas() bool {
	stopped := true
	for _, r := range slices.Concat(c.Replicas, c.seconds) {
		if r.Spec.DesireState != v1beta2.InstanceStateStopped {
			c.patch(StageRun, r, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofReplica(r); !c.stopped(i) {
			stopped = c.wait(v1beta2.ReasonWaitingForReplicas,
				fmt.Sprintf("Replica %s on %s is %s and must stop.", r.Name, i.node, c.stateOf(i)))
		}
	}
	return stopped
}

func (c closing) allStopped() bool {
	for _, e := range c.Engines {
		if i := ofEngine(e); !c.stopped(i) {
			return c.wait(v1beta2.ReasonWaitingForEngine,
				fmt.Sprintf("Engine %s on %s is %s: its node is down; it counts as stopped when every reachable replica is.", e.Name,
					i.node, c.stateOf(i)))
		}
	}
	for _, f := range c.Frontends {
		if i := ofFrontend(f); !c.stopped(i) {
			return c.wait(v1beta2.ReasonWaitingForFrontend,
				fmt.Sprintf("Frontend %s on %s is %s: its node is down; it counts as stopped when every reachable replica is.", f.Name,
					i.node, c.stateOf(i)))
		}
	}
	return true
}

// forgetModes removes those replicas from the engine's address map whose modes would else count for the next run. The others stay: what
// the engine reports of them when its node is back still counts.
func (c closing) forgetModes() bool {
	e := c.engine
	if e == nil || c.state != v1beta2.VolumeStateDetaching {
		return true
	}
	kept := map[string]string{}
	for name, where := range e.Spec.ReplicaAddressMap {
		if mode, known := e.Status.ReplicaModeMap[name]; !known || mode == v1beta2.ReplicaModeRW {
			kept[name] = where
		}
	}
	if !same(kept, e.Spec.ReplicaAddressMap) {
		c.patch(StageRun, e, "replicaAddressMap", mergepatch.OfMap(e.Spec.ReplicaAddressMap, kept))
	}
	return true
}
