package machine

import (
	"fmt"
	"maps"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// retryTarget is how long a new second engine may take to become ready. A failed one is kept that long, so that a node on which every
// engine fails gets no retry without a pause.
const retryTarget = 10 * time.Second

// The target of an attached v2 volume moves under its frontend, which stays (`spec.targetNodeID`; empty means the original node, where the
// volume is attached):
//
//	no second engine       → create it on the wanted node, over the replicas that are RW in a fresh poll, without a frontend
//	it runs, all are RW   → write it to the frontend's spec; im-monitor moves the paths
//	the frontend leads to it → it is the volume's engine; stop the other one
//	it does not start, or is no longer wanted → the frontend stays, or switches back, before the second engine stops
//
// EngineFrontend.status decides which engine is the volume's, so that an I/O target exists at every moment. [UPG-3]

// servingEngine returns the engine that the volume's only frontend leads to; nil if that is unknown.
func (f Facts) servingEngine() *v1beta2.Engine {
	if len(f.Frontends) != 1 {
		return nil
	}
	var found *v1beta2.Engine
	for _, e := range f.Engines {
		if leadsTo(f.Frontends[0], e) && (found == nil || e.Name == f.Frontends[0].Spec.EngineName) {
			found = e
		}
	}
	return found
}

// leadsTo reports whether a frontend's I/O goes to an engine.
func leadsTo(f *v1beta2.EngineFrontend, e *v1beta2.Engine) bool {
	s := f.Status
	return s.TargetIP != "" && s.TargetPort != 0 && s.TargetIP == e.Status.StorageIP && s.TargetPort == e.Status.Port
}

// targetMovable reports whether the volume is attached with one frontend on its node, so that its engine may be relocated.
func (f Facts) targetMovable(original string) bool {
	i := ofFrontend(f.frontend)
	return f.hasFrontend() && f.engine != nil && f.state == v1beta2.VolumeStateAttached && original != "" && f.current == original &&
		f.secondFrontend == nil && i.wanted && i.node == original
}

// relocated reports whether the target is not on the node where the volume is attached.
func (f Facts) relocated() bool {
	e := ofEngine(f.engine)
	return f.targetMovable(f.current) && e.wanted && e.node != "" && e.node != f.current
}

// targetAway reports whether the target is on another node than the volume, or is on its way there or back.
func (f Facts) targetAway() bool { return f.relocated() || f.second != nil }

// engineNode returns the node for the engine of a volume that is wanted on a node.
func (f Facts) engineNode(node string) string {
	if f.current == node && f.relocated() {
		return f.engine.Spec.NodeID
	}
	return node
}

// switchesToSecond reports whether the frontend was ordered to switch to the second engine, which runs.
func (f Facts) switchesToSecond() bool {
	return f.second != nil && f.frontend != nil && f.secondFrontend == nil && f.state == v1beta2.VolumeStateAttached &&
		f.frontend.Spec.EngineName == f.second.Name && f.running(ofEngine(f.second))
}

// targetMove takes the next step of the table above.
type targetMove struct{ *draft }

func (m targetMove) decide() {
	original := m.Volume.Spec.NodeID
	m.stopOtherEngines()
	destination := m.chooseDestination(original)
	switch {
	case m.second == nil && !m.relocatedTargetFailed() && m.engine.Spec.NodeID == destination:
		m.recordImage(original)
	case m.second == nil:
		m.begin(destination)
	case m.keepSecond(destination):
		m.switchWhenReady(original, destination)
	case m.switchAlmostComplete(destination): // it moves on from there: reversing on the way could repeat for ever
		m.connectFrontend(m.frontend, m.second, original)
	default:
		m.dropSecondTarget(original)
	}
	if !m.engine.Spec.Active && leadsTo(m.frontend, m.engine) {
		m.patch(StageRun, m.engine, "active", true)
	}
	if to := m.Volume.Spec.MigrationNodeID; to != "" {
		m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("The migration to %s begins when the target is back on %s.", to, original))
	}
}

// chooseDestination returns the node for the target: its current node as long as it cannot move to the wanted one, and then it waits.
func (m targetMove) chooseDestination(original string) string {
	at, wanted := m.engine.Spec.NodeID, m.Volume.Spec.TargetNodeID
	if wanted == "" {
		wanted = original
	}
	switch u := m.upgradeOf(wanted); {
	case wanted == at:
	case m.nodeDown(wanted):
		m.wait(v1beta2.ReasonNodeDown, fmt.Sprintf("Its target stays on %s: node %s is down.", at, wanted))
		return at
	case wanted != original && m.Nodes[wanted].Upgrading, u != nil && u.replacesManager():
		m.wait(v1beta2.ReasonNodeUpgrading, fmt.Sprintf("Its target stays on %s: the data engine of node %s is being upgraded.", at,
			wanted))
		return at
	}
	return wanted
}

// relocatedTargetFailed reports whether the relocated target has failed while copies are left that it served from: another engine takes
// over under the frontend, since the volume could not be attached again where it is.
func (f Facts) relocatedTargetFailed() bool {
	return f.relocated() && ofEngine(f.engine).state == v1beta2.InstanceStateError && len(f.withoutFailed(f.rwReplicas())) > 0
}

// begin creates the second engine.
func (m targetMove) begin(destination string) {
	at := m.engine.Spec.NodeID
	switch {
	case !leadsTo(m.frontend, m.engine) || !m.running(ofFrontend(m.frontend)):
	case m.engineRuns():
		if !m.engineBusy() && m.requestPoll() {
			m.createSecond(destination)
		}
	case m.relocatedTargetFailed():
		m.createReachableSecond(destination)
	case m.nodeDown(at) && at != destination && m.hasHealthySuccessor():
		if (ioSuspension{m.draft}).suspendIO() {
			m.createReachableSecond(destination)
		}
	}
	m.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target moves from node %s to node %s.", at, destination))
}

// createReachableSecond creates the second engine over the replicas that it can reach; the others are marked in an evaluation before.
func (m targetMove) createReachableSecond(node string) {
	if !m.failUnreachable() {
		m.createSecond(node)
	}
}

func (m targetMove) createSecond(node string) {
	m.out.Fresh = true
	e := m.newSecondEngine(node)
	e.Spec.ReplicaAddressMap = m.withoutFailed(e.Spec.ReplicaAddressMap)
	if len(e.Spec.ReplicaAddressMap) > 0 {
		m.createsEngine = true
		m.add(Write{Kind: Create, Stage: StageMake, Object: e})
	}
}

// withoutFailed returns the addresses of those replicas that have not failed.
func (f Facts) withoutFailed(addresses map[string]string) map[string]string {
	out := maps.Clone(addresses)
	for _, r := range f.Replicas {
		if r.Spec.FailedAt != "" || f.failed[r.Name] {
			delete(out, r.Name)
		}
	}
	return out
}

// engineBusy reports whether the engine does something that no other engine could continue, or has not reported the mode of each replica.
func (f Facts) engineBusy() bool {
	e := f.engine
	for name := range e.Spec.ReplicaAddressMap {
		if mode := f.mode(name); mode != v1beta2.ReplicaModeRW && mode != v1beta2.ReplicaModeERR {
			return true
		}
	}
	for _, r := range f.Replicas {
		if f.mode(r.Name) == v1beta2.ReplicaModeRW && f.nodeDown(r.Spec.NodeID) {
			return true // the engine is about to notice
		}
		if e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && r.Spec.FailedAt != "" {
			return true // it drops that replica first: a frontend that switched back would read stale data from it
		}
	}
	return e.Status.IsExpanding || e.Spec.VolumeSize < v1beta2.SizeOf(f.Volume) || f.Volume.Status.RestoreRequired ||
		f.Volume.Status.CloneStatus.State == v1beta2.CloneInitiated
}

// failUnreachable marks the replicas that the next engine will not have; it reports whether there were any.
func (m targetMove) failUnreachable() bool {
	marked := false
	for _, r := range m.Replicas {
		if m.mode(r.Name) == v1beta2.ReplicaModeRW && m.healthy(r) && (m.nodeDown(r.Spec.NodeID) || !m.running(ofReplica(r))) {
			marked = m.fail(r, "it cannot be reached while the target moves") || marked
		}
	}
	return marked
}
