package machine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// close stops frontend, engine and replicas in this order, and reports whether everything is proven stopped. An instance on a down node
// does not delay the next step; close waits for its end last.
func (p *pass) close() bool {
	if p.secondFrontend == nil && !p.stopSide(p.frontend, nil) {
		return false // it may lead to either engine
	}
	others := p.endOthers()
	second := p.stopSide(p.secondFrontend, p.second)
	first := p.stopSide(p.frontend, p.engine)
	if !first || !second || !others {
		return false
	}
	if p.state == v1beta2.VolumeStateDetaching && !p.Rules.off(RuleModesAtClose) {
		p.failByLastModes()
	}
	p.failDown()
	if !p.stopReplicas() || !p.allStopped() {
		return false
	}
	p.dropSecond()
	return p.forgetModes()
}

// stopSide stops a frontend and then its engine; it reports whether neither delays the next step.
func (p *pass) stopSide(f *v1beta2.EngineFrontend, e *v1beta2.Engine) bool {
	if f != nil {
		if f.Spec.DesireState != v1beta2.InstanceStateStopped {
			p.patch(StageStop, f, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofFrontend(f); !p.stopped(i) && !p.delaysNothing(i) {
			return p.wait(v1beta2.ReasonWaitingForFrontend, fmt.Sprintf("Frontend %s on %s is %s and must stop.", f.Name, i.node, p.stateOf(i)))
		}
	}
	if e != nil {
		if e.Spec.DesireState != v1beta2.InstanceStateStopped {
			p.patch(StageStop, e, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofEngine(e); !p.stopped(i) && !p.delaysNothing(i) {
			return p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Engine %s on %s is %s and must stop.", e.Name, i.node, p.stateOf(i)))
		}
	}
	return true
}

func (f Facts) delaysNothing(i instance) bool {
	return f.nodeDown(i.node) && !f.Rules.off(RuleDownHoldsNothing)
}

// failByLastModes records the replica modes that the engines reported last: the next run must not mix replicas that differ. Dropped
// replicas come first: a replica whose instance failed since may be the only one with the newest data.
func (p *pass) failByLastModes() {
	p.healByLastModes()
	for _, r := range p.Replicas {
		for _, e := range p.Engines {
			if _, mapped := e.Spec.ReplicaAddressMap[r.Name]; mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeERR {
				p.fail(r, "its engine "+e.Name+" had dropped it")
			}
		}
	}
	for _, r := range p.Replicas {
		if i := ofReplica(r); i.wanted && i.state == v1beta2.InstanceStateError {
			p.fail(r, "its instance failed")
		}
	}
}

// healByLastModes marks the replicas whose rebuild ended just before their engine did: one of them may have the newest data. They are
// marked before any other replica is marked as failed.
func (p *pass) healByLastModes() {
	for _, r := range p.Replicas {
		for _, e := range p.Engines {
			_, mapped := e.Spec.ReplicaAddressMap[r.Name]
			if mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && r.Spec.HealthyAt == "" && r.Spec.FailedAt == "" &&
				p.everHealthy() {
				p.rebuilt = p.rebuilt.with(r.Name)
				p.patch(StageMake, r, "healthyAt", stamp(p.Now))
				p.patch(StageMake, r, "lastHealthyAt", stamp(p.Now))
			}
		}
	}
}

// failDown marks the replicas on down nodes before the first reachable one is stopped: from then on an engine on a down node could write
// to them alone. Without a reachable healthy replica nothing is concluded.
func (p *pass) failDown() {
	if p.Rules.off(RuleFailFirst) || !p.engineMayStillWrite() {
		return
	}
	for _, r := range p.Replicas {
		if p.healthy(r) && p.nodeDown(r.Spec.NodeID) && p.otherHealthyReachable(r.Name) {
			p.fail(r, "its node "+r.Spec.NodeID+" is down while the volume is detached")
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

func (p *pass) stopReplicas() bool {
	stopped := true
	for _, r := range p.Replicas {
		if r.Spec.DesireState != v1beta2.InstanceStateStopped {
			p.patch(StageStop, r, "desireState", v1beta2.InstanceStateStopped)
		}
		if i := ofReplica(r); !p.stopped(i) {
			stopped = p.wait(v1beta2.ReasonWaitingForReplicas,
				fmt.Sprintf("Replica %s on %s is %s and must stop.", r.Name, i.node, p.stateOf(i)))
		}
	}
	return stopped
}

func (p *pass) allStopped() bool {
	for _, e := range p.Engines {
		if i := ofEngine(e); !p.stopped(i) {
			return p.wait(v1beta2.ReasonWaitingForEngine,
				fmt.Sprintf("Engine %s on %s is %s: its node is down; it counts as stopped when every reachable replica is.", e.Name,
					i.node, p.stateOf(i)))
		}
	}
	for _, f := range p.Frontends {
		if i := ofFrontend(f); !p.stopped(i) {
			return p.wait(v1beta2.ReasonWaitingForFrontend,
				fmt.Sprintf("Frontend %s on %s is %s: its node is down; it counts as stopped when every reachable replica is.", f.Name,
					i.node, p.stateOf(i)))
		}
	}
	return true
}

// dropSecond deletes what a migration that ended left behind.
func (p *pass) dropSecond() {
	if p.secondFrontend != nil {
		p.drop(p.secondFrontend)
	}
	if p.second != nil {
		p.drop(p.second)
	}
}

// forgetModes removes those replicas from the engine's address map whose modes would else count for the next run. The others stay: what
// the engine reports of them when its node is back still counts.
func (p *pass) forgetModes() bool {
	e := p.engine
	if e == nil || p.state != v1beta2.VolumeStateDetaching {
		return true
	}
	kept := map[string]string{}
	for name, where := range e.Spec.ReplicaAddressMap {
		if mode, known := e.Status.ReplicaModeMap[name]; !known || mode == v1beta2.ReplicaModeRW {
			kept[name] = where
		}
	}
	if !same(kept, e.Spec.ReplicaAddressMap) {
		p.patch(StageStop, e, "replicaAddressMap", exactly(e.Spec.ReplicaAddressMap, kept))
	}
	return true
}
