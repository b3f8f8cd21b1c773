package machine

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// keepSecond reports whether the second engine may become the volume's: it is on the wanted node, did not fail, and has all RW replicas of
// the first one. One that is not fit is kept until retryTarget is over, and an evaluation is requested for then.
func (m targetMove) keepSecond(destination string) bool {
	e := ofEngine(m.second)
	if m.second.DeletionTimestamp != nil || !e.wanted || e.node != destination ||
		m.engine.Spec.NodeID == destination && !m.relocatedTargetFailed() {
		return false
	}
	if !m.secondFailed() {
		return true
	}
	due := m.second.CreationTimestamp.Add(retryTarget)
	if m.frontend.Spec.EngineName == m.second.Name || !m.Now.Before(due) {
		return false
	}
	m.requeueAt(due)
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

// switchAlmostComplete reports whether the frontend is switching to the second engine, which is sound, while neither engine is on the
// wanted node.
func (f Facts) switchAlmostComplete(destination string) bool {
	return f.switchesToSecond() && f.second.DeletionTimestamp == nil && ofEngine(f.second).wanted && !f.nodeDown(f.second.Spec.NodeID) &&
		!f.secondFailed() && f.engine.Spec.NodeID != destination && f.second.Spec.NodeID != destination
}

// switchWhenReady switches the frontend to the second engine once that runs and has all its replicas.
func (m targetMove) switchWhenReady(original, destination string) {
	if m.prepareSwitch(original) {
		m.connectFrontend(m.frontend, m.second, original)
	}
	m.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target moves from node %s to node %s.", m.engine.Spec.NodeID, destination))
}

// secondReady reports whether the second engine runs with all its replicas.
func (f Facts) secondReady() bool {
	if !f.running(ofEngine(f.second)) || f.second.Status.Port == 0 || f.engineRuns() && f.secondOutdated() {
		return false
	}
	for name := range f.second.Spec.ReplicaAddressMap {
		if f.second.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {
			return false
		}
	}
	return true
}

// prepareSwitch does what must precede a switch of the frontend to the second engine: a poll of the first one, or the suspension of all I/O
// where that does not run. It reports whether the frontend may switch now, or was ordered to. An order whose suspension was lost is
// withdrawn.
func (m targetMove) prepareSwitch(original string) bool {
	if !m.secondReady() {
		return false
	}
	switch switchOrdered := m.frontend.Spec.EngineName == m.second.Name; {
	case switchOrdered && suspensionLost(m.frontend): // what the first one acknowledges meanwhile the second one lacks
		m.connectFrontend(m.frontend, m.engine, original)
		return false
	case switchOrdered:
		return true
	case m.engineRuns():
		if !m.requestPoll() {
			return false
		}
	case !m.relocatedTargetFailed():
		if !(ioSuspension{m.draft}).suspendIO() {
			return false
		}
	}
	m.out.Fresh, m.out.FreshFrontends = true, true
	return true
}

// dropSecondTarget stops and removes the engine that is not the volume's, never before the frontend leads to the other one. [UPG-3]
func (m targetMove) dropSecondTarget(original string) {
	e := m.second
	m.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target is on node %s; the engine on node %s stops.", m.engine.Spec.NodeID,
		e.Spec.NodeID))
	if m.frontend.Spec.EngineName == e.Name {
		if m.running(ofEngine(m.engine)) && m.engine.Status.Port != 0 {
			m.connectFrontend(m.frontend, m.engine, original)
		}
		return
	}
	if !leadsTo(m.frontend, m.engine) || m.frontend.Status.SwitchoverInProgress() || m.frontend.Spec.EngineName != m.engine.Name {
		return
	}
	if e.Spec.Active {
		m.patch(StageRun, e, "active", false)
	}
	if ofEngine(e).wanted {
		m.out.Fresh, m.out.FreshFrontends = true, true
	}
	if !m.stopInstances(nil, e) {
		return
	}
	m.failDroppedBy(e)
	if m.stopped(ofEngine(e)) {
		m.remove(e)
		return
	}
	if len(e.Spec.ReplicaAddressMap) > 0 { // its node is down: its reports are outdated when the node is back
		m.patch(StageRun, e, "replicaAddressMap", mergepatch.OfMap(e.Spec.ReplicaAddressMap, nil))
	}
}

// failDroppedBy marks the replicas that the stopping engine dropped, and that the volume's engine has not reported: they may lack what it
// wrote.
func (m targetMove) failDroppedBy(e *v1beta2.Engine) {
	for _, r := range m.Replicas {
		_, mapped := e.Spec.ReplicaAddressMap[r.Name]
		if mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeERR && m.mode(r.Name) == v1beta2.ReplicaModeRW {
			m.fail(r, "engine "+e.Name+" had dropped it before the target moved")
		}
	}
}
