package machine

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// targetReady reports whether the second engine may become the volume's: it is on the wanted node, did not fail, and has all RW replicas
// of the first one. One that is not ready has retryTarget to become so.
func (p *pass) targetReady(goal string) bool {
	e := ofEngine(p.second)
	if p.second.DeletionTimestamp != nil || !e.wanted || e.node != goal || p.engine.Spec.NodeID == goal && !p.relocatedTargetFailed() {
		return false
	}
	if !p.secondFailed() {
		return true
	}
	due := p.second.CreationTimestamp.Add(retryTarget)
	if p.frontend.Spec.EngineName == p.second.Name || !p.Now.Before(due) {
		return false
	}
	p.requeueAt(due)
	return true
}

// secondFailed reports whether the second engine failed, or dropped a replica, or has one that the first one dropped.
func (f Facts) secondFailed() bool {
	bad := ofEngine(f.second).state == v1beta2.InstanceStateError || f.engineRuns() && f.secondOutdated()
	for name := range f.second.Spec.ReplicaAddressMap {
		bad = bad || f.second.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR
	}
	return bad
}

// switchAlmostComplete reports whether the frontend is switching to the second engine, which is sound, while neither engine is on the wanted node.
func (f Facts) switchAlmostComplete(goal string) bool {
	return f.switchesToSecond() && f.second.DeletionTimestamp == nil && ofEngine(f.second).wanted && !f.nodeDown(f.second.Spec.NodeID) && !f.secondFailed() &&
		f.engine.Spec.NodeID != goal && f.second.Spec.NodeID != goal
}

// carryOn switches the frontend to the second engine once that runs and has all its replicas.
func (p *pass) carryOn(home, goal string) {
	if p.ready(home) {
		p.orderFrontend(p.frontend, p.second, home)
	}
	p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target moves from node %s to node %s.", p.engine.Spec.NodeID, goal))
}

// ready reports whether the second engine may take over, or the frontend was already ordered to switch.
func (p *pass) ready(home string) bool {
	if !p.running(ofEngine(p.second)) || p.second.Status.Port == 0 || p.engineRuns() && p.secondOutdated() {
		return false
	}
	for name := range p.second.Spec.ReplicaAddressMap {
		if p.second.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {
			return false
		}
	}
	switch switchOrdered := p.frontend.Spec.EngineName == p.second.Name; {
	case switchOrdered && lost(p.frontend): // what the first one acknowledges meanwhile the second one lacks
		p.orderFrontend(p.frontend, p.engine, home)
		return false
	case switchOrdered:
		return true
	case p.engineRuns() && !p.freshPoll(), !p.engineRuns() && !p.relocatedTargetFailed() && !p.cutOff():
		return false
	}
	p.out.Fresh, p.out.FreshFrontends = true, true
	return true
}

// endMove stops the engine that is not the volume's, never before the frontend leads to the other one. [UPG-3]
func (p *pass) endMove(home string) {
	e := p.second
	p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target is on node %s; the engine on node %s stops.", p.engine.Spec.NodeID,
		e.Spec.NodeID))
	if p.frontend.Spec.EngineName == e.Name {
		if p.running(ofEngine(p.engine)) && p.engine.Status.Port != 0 {
			p.orderFrontend(p.frontend, p.engine, home)
		}
		return
	}
	if !leadsTo(p.frontend, p.engine) || p.frontend.Status.SwitchoverInProgress() || p.frontend.Spec.EngineName != p.engine.Name {
		return
	}
	if e.Spec.Active {
		p.patch(StageStop, e, "active", false)
	}
	if ofEngine(e).wanted {
		p.out.Fresh, p.out.FreshFrontends = true, true
	}
	if !p.stopSide(nil, e) {
		return
	}
	p.believe(e)
	if p.stopped(ofEngine(e)) {
		p.drop(e)
		return
	}
	if len(e.Spec.ReplicaAddressMap) > 0 { // its node is down: its reports are outdated when the node is back
		p.patch(StageStop, e, "replicaAddressMap", exactly(e.Spec.ReplicaAddressMap, nil))
	}
}

// believe marks the replicas that the stopping engine dropped, and that the volume's engine has not reported: they may lack what it wrote.
func (p *pass) believe(e *v1beta2.Engine) {
	for _, r := range p.Replicas {
		_, mapped := e.Spec.ReplicaAddressMap[r.Name]
		if mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeERR && p.mode(r.Name) == v1beta2.ReplicaModeRW {
			p.fail(r, "engine "+e.Name+" had dropped it before the target moved")
		}
	}
}

// endOthers stops and deletes the engines beside the two that count.
func (p *pass) endOthers() (stopped bool) {
	stopped = true
	for _, e := range p.otherEngines() {
		switch {
		case !p.stopSide(nil, e):
			stopped = false
		case p.stopped(ofEngine(e)):
			p.drop(e)
		}
	}
	return stopped
}

func (f Facts) otherEngines() []*v1beta2.Engine {
	return slices.DeleteFunc(slices.Clone(f.Engines), func(e *v1beta2.Engine) bool { return e == f.engine || e == f.second })
}
