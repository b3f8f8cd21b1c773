package machine

import (
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// retryTarget is how long an engine that is made for a move has to become fit: one that failed stands until then, so that a node on which
// every engine fails is not asked without a pause.
const retryTarget = 10 * time.Second

// The target of an attached v2 volume moves under its frontend, which stays (`spec.targetNodeID`; empty is home, where the volume is attached):
//
//	no second engine       → one is made on the wanted node, over the replicas that are RW in a fresh look, without a frontend
//	it runs, all RW in it  → the frontend's spec names it; im-monitor moves the paths
//	the frontend is there  → it is the volume's engine, whatever else was meant; the other one ends
//	it does not come up, or is not wanted any more → the frontend stays, or goes back, before it ends
//
// Which engine is the volume's is what EngineFrontend.status says, so that an I/O target exists at every moment. [UPG-3]

// served is the engine that the volume's only frontend leads to; nil where nobody knows.
func (p *pass) served() *v1beta2.Engine {
	if len(p.Frontends) != 1 {
		return nil
	}
	var found *v1beta2.Engine
	for _, e := range p.Engines {
		if leadsTo(p.Frontends[0], e) && (found == nil || e.Name == p.Frontends[0].Spec.EngineName) {
			found = e
		}
	}
	return found
}

// leadsTo tells that a frontend's I/O goes to an engine.
func leadsTo(f *v1beta2.EngineFrontend, e *v1beta2.Engine) bool {
	s := f.Status
	return s.TargetIP != "" && s.TargetPort != 0 && s.TargetIP == e.Status.StorageIP && s.TargetPort == e.Status.Port
}

// movable tells that the volume is attached at home with one frontend there, so that its engine may be elsewhere.
func (p *pass) movable(home string) bool {
	f := ofFrontend(p.frontend)
	return p.hasFrontend() && p.engine != nil && p.state == v1beta2.VolumeStateAttached && home != "" && p.current == home &&
		p.secondFront == nil && f.wanted && f.node == home
}

// away tells that the target is, for the moment, not where the volume is attached.
func (p *pass) away() bool {
	e := ofEngine(p.engine)
	return p.movable(p.current) && e.wanted && e.node != "" && e.node != p.current
}

// seat is where the engine of a volume is to be that is wanted on a node.
func (p *pass) seat(node string) string {
	if p.current == node && p.away() {
		return p.engine.Spec.NodeID
	}
	return node
}

// handing tells that the frontend was told to go to the second engine, which runs.
func (p *pass) handing() bool {
	return p.second != nil && p.frontend != nil && p.secondFront == nil && p.state == v1beta2.VolumeStateAttached &&
		p.frontend.Spec.EngineName == p.second.Name && p.running(ofEngine(p.second))
}

// moveTarget takes the next step of the table above.
func (p *pass) moveTarget(home string) {
	goal := p.goal(home)
	switch {
	case p.second == nil && !p.broken() && p.engine.Spec.NodeID == goal:
		p.upgraded(home)
	case p.second == nil:
		p.beginMove(goal)
	case p.fit(goal):
		p.carryOn(home, goal)
	case p.arriving(goal): // to be left again from there: turning back and forth would never end
		p.orderFrontend(p.frontend, p.second, home)
	default:
		p.endMove(home)
	}
	if !p.engine.Spec.Active && leadsTo(p.frontend, p.engine) {
		p.patch(StageStop, p.engine, "active", true)
	}
}

// goal is where the target shall be: where it is as long as it cannot go where it is wanted.
func (p *pass) goal(home string) string {
	at, wanted := p.engine.Spec.NodeID, p.v.Spec.TargetNodeID
	if wanted == "" {
		wanted = home
	}
	switch u := p.upgradeOf(wanted); {
	case wanted == at:
	case p.down(wanted):
		p.wait(v1beta2.ReasonNodeDown, fmt.Sprintf("Its target stays on %s: node %s is down.", at, wanted))
		return at
	case wanted != home && p.Nodes[wanted].Upgrading, u != nil && u.leaves():
		p.wait(v1beta2.ReasonNodeUpgrading, fmt.Sprintf("Its target stays on %s: the data engine of node %s is being upgraded.", at, wanted))
		return at
	}
	return wanted
}

// broken tells that the target is away and has failed, while copies are left that it served from: another engine takes over from it under the
// frontend, since the volume could not be attached anew where it is.
func (p *pass) broken() bool {
	return p.away() && ofEngine(p.engine).state == v1beta2.InstanceStateError && p.good(p.sound()) > 0
}

// beginMove makes the second engine.
func (p *pass) beginMove(goal string) {
	at := p.engine.Spec.NodeID
	switch {
	case !leadsTo(p.frontend, p.engine) || !p.running(ofFrontend(p.frontend)):
	case p.engineUp():
		if !p.unfinished() && p.freshLook() {
			p.makeTarget(goal)
		}
	case p.broken(), p.down(at) && at != goal && p.heir() && p.cutOff():
		if !p.failUnreachable() {
			p.makeTarget(goal)
		}
	}
	p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target moves from node %s to node %s.", at, goal))
}

func (p *pass) makeTarget(node string) {
	p.out.Fresh = true
	if e := p.secondEngine(node); p.good(e.Spec.ReplicaAddressMap) > 0 {
		p.makes = true
		p.add(Write{Kind: Create, Stage: StageMake, Object: e})
	}
}

// good leaves those replicas in a map that did not fail, and counts them.
func (p *pass) good(addresses map[string]string) int {
	for _, r := range p.Replicas {
		if r.Spec.FailedAt != "" || p.failed[r.Name] {
			delete(addresses, r.Name)
		}
	}
	return len(addresses)
}

// unfinished tells that the engine does something that no other engine could go on with, or has not said of each replica how it is.
func (p *pass) unfinished() bool {
	e := p.engine
	for name := range e.Spec.ReplicaAddressMap {
		if mode := p.mode(name); mode != v1beta2.ReplicaModeRW && mode != v1beta2.ReplicaModeERR {
			return true
		}
	}
	for _, r := range p.Replicas {
		if p.mode(r.Name) == v1beta2.ReplicaModeRW && p.down(r.Spec.NodeID) {
			return true // the engine is about to notice
		}
		if e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW && r.Spec.FailedAt != "" {
			return true // it lets that go first: a frontend that came back would read there what it wrote elsewhere
		}
	}
	return e.Status.IsExpanding || e.Spec.VolumeSize < p.v.Spec.Size || p.v.Status.RestoreRequired || p.v.Status.CloneStatus.State == v1beta2.CloneInitiated
}

// failUnreachable marks the replicas that the next engine will not have; true when there were any.
func (p *pass) failUnreachable() bool {
	any := false
	for _, r := range p.Replicas {
		if p.mode(r.Name) == v1beta2.ReplicaModeRW && p.healthy(r) && (p.down(r.Spec.NodeID) || !p.running(ofReplica(r))) {
			any = p.fail(r, "it cannot be reached while the target moves") || any
		}
	}
	return any
}

// fit tells that the second engine may become the volume's: it is where it shall be, and neither failed nor knows of fewer good replicas than the
// first one. One that is not has a moment to become so.
func (p *pass) fit(goal string) bool {
	e := ofEngine(p.second)
	if p.second.DeletionTimestamp != nil || !e.wanted || e.node != goal || p.engine.Spec.NodeID == goal && !p.broken() {
		return false
	}
	if !p.unsound() {
		return true
	}
	due := p.second.CreationTimestamp.Add(retryTarget)
	if p.frontend.Spec.EngineName == p.second.Name || !p.Now.Before(due) {
		return false
	}
	p.wake(due)
	return true
}

// unsound tells that the second engine failed, or knows of fewer good replicas, or of more, than the first one.
func (p *pass) unsound() bool {
	bad := ofEngine(p.second).state == v1beta2.InstanceStateError || p.engineUp() && p.outrun()
	for name := range p.second.Spec.ReplicaAddressMap {
		bad = bad || p.second.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR
	}
	return bad
}

// arriving tells that the frontend is on its way to the second engine, which is sound, and that neither engine is where the target shall be.
func (p *pass) arriving(goal string) bool {
	return p.handing() && p.second.DeletionTimestamp == nil && ofEngine(p.second).wanted && !p.down(p.second.Spec.NodeID) && !p.unsound() &&
		p.engine.Spec.NodeID != goal && p.second.Spec.NodeID != goal
}

// carryOn lets the frontend go to the second engine once that runs and has all its replicas.
func (p *pass) carryOn(home, goal string) {
	if p.ready(home) {
		p.orderFrontend(p.frontend, p.second, home)
	}
	p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target moves from node %s to node %s.", p.engine.Spec.NodeID, goal))
}

// ready tells that the second engine may take over, or that the frontend was told so already.
func (p *pass) ready(home string) bool {
	if !p.running(ofEngine(p.second)) || p.second.Status.Port == 0 || p.engineUp() && p.outrun() {
		return false
	}
	for name := range p.second.Spec.ReplicaAddressMap {
		if p.second.Status.ReplicaModeMap[name] != v1beta2.ReplicaModeRW {
			return false
		}
	}
	switch told := p.frontend.Spec.EngineName == p.second.Name; {
	case told && lost(p.frontend): // what the first one acknowledges meanwhile the second one lacks
		p.orderFrontend(p.frontend, p.engine, home)
		return false
	case told:
		return true
	case p.engineUp() && !p.freshLook(), !p.engineUp() && !p.broken() && !p.cutOff():
		return false
	}
	p.out.Fresh, p.out.FreshFrontends = true, true
	return true
}

// endMove ends the engine that is not the volume's, or not any more: never before the frontend leads to the other one. [UPG-3]
func (p *pass) endMove(home string) {
	e := p.second
	p.wait(v1beta2.ReasonWaitingForEngine, fmt.Sprintf("Its target is on node %s; the engine on node %s ends.", p.engine.Spec.NodeID, e.Spec.NodeID))
	if p.frontend.Spec.EngineName == e.Name {
		if p.running(ofEngine(p.engine)) && p.engine.Status.Port != 0 {
			p.orderFrontend(p.frontend, p.engine, home)
		}
		return
	}
	if !leadsTo(p.frontend, p.engine) || p.frontend.Status.SwitchoverPhase != "" || p.frontend.Spec.EngineName != p.engine.Name {
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
	if len(e.Spec.ReplicaAddressMap) > 0 { // its node is down: what it says when that is back is of the past
		p.patch(StageStop, e, "replicaAddressMap", exactly(e.Spec.ReplicaAddressMap, nil))
	}
}

// believe marks the replicas that the engine which ends had dropped, and that the volume's engine knows nothing of: they may lack what it wrote.
func (p *pass) believe(e *v1beta2.Engine) {
	for _, r := range p.Replicas {
		_, mapped := e.Spec.ReplicaAddressMap[r.Name]
		if mapped && e.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeERR && p.mode(r.Name) == v1beta2.ReplicaModeRW {
			p.fail(r, "engine "+e.Name+" had dropped it before the target moved")
		}
	}
}

// endOthers stops the engines that are left over beside the two that count, and lets them go.
func (p *pass) endOthers() (stopped bool) {
	stopped = true
	for _, e := range p.others() {
		switch {
		case !p.stopSide(nil, e):
			stopped = false
		case p.stopped(ofEngine(e)):
			p.drop(e)
		}
	}
	return stopped
}

func (p *pass) others() []*v1beta2.Engine {
	return slices.DeleteFunc(slices.Clone(p.Engines), func(e *v1beta2.Engine) bool { return e == p.engine || e == p.second })
}
