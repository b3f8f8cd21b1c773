package machine

import (
	"fmt"
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
)

// join maintains the running engine's replicas: rebuilt ones become healthy, new ones are added once they run, and those that failed or
// leave are removed.
func (p *pass) join() {
	if !p.engineRuns() || p.engine.Spec.NodeID != p.engineNode(p.Volume.Spec.NodeID) {
		return
	}
	wanted := maps.Clone(p.engine.Spec.ReplicaAddressMap)
	if wanted == nil {
		wanted = map[string]string{}
	}
	known, lost := map[string]bool{}, !p.anyRW(wanted)
	for _, r := range p.Replicas {
		known[r.Name] = true
		switch {
		case r.Spec.FailedAt != "" || p.failed[r.Name]:
			p.leaveOut(r, wanted)
		case r.DeletionTimestamp != nil:
			p.letGo(r, wanted)
		case p.removedByUpgrade(r):
			p.takeOut(r, wanted)
		case lost && p.servesUnmapped(r):
			p.out.Fresh = true
			wanted[r.Name] = address(r)
		default:
			p.recordMode(r)
			p.bring(r, wanted)
		}
	}
	for name := range wanted {
		if !known[name] {
			delete(wanted, name)
		}
	}
	if len(wanted) > 0 && !same(wanted, p.engine.Spec.ReplicaAddressMap) {
		p.patch(StageStop, p.engine, "replicaAddressMap", exactly(p.engine.Spec.ReplicaAddressMap, wanted))
	}
}

// leaveOut removes a failed replica. One that the engine still relies on, or may rely on, stays until it has another. [UPG-1]
func (p *pass) leaveOut(r *v1beta2.Replica, wanted map[string]string) {
	if p.mode(r.Name) == v1beta2.ReplicaModeERR {
		delete(wanted, r.Name)
		p.halt(r)
		return
	}
	p.letGo(r, wanted)
}

func (p *pass) halt(r *v1beta2.Replica) {
	if r.Spec.DesireState != v1beta2.InstanceStateStopped {
		p.patch(StageStop, r, "desireState", v1beta2.InstanceStateStopped)
	}
}

// letGo removes a replica if another one that is RW in a fresh poll stays. It runs until the engine no longer lists it: if the other one
// is lost before that, it is added again. [UPG-1]
func (p *pass) letGo(r *v1beta2.Replica, wanted map[string]string) {
	_, mapped := wanted[r.Name]
	_, listed := p.engine.Status.ReplicaModeMap[r.Name]
	switch {
	case mapped && !(p.otherRW(r.Name, wanted) && p.freshPoll()):
	case mapped:
		delete(wanted, r.Name)
	case listed && !p.anyRW(wanted) && r.Status.Port != 0:
		wanted[r.Name] = address(r)
	case !listed:
		p.halt(r)
	}
}

func (f Facts) otherRW(except string, among map[string]string) bool {
	for _, r := range f.Replicas {
		if _, mapped := among[r.Name]; mapped && r.Name != except && r.DeletionTimestamp == nil && f.mode(r.Name) == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// anyRW reports whether the engine has an RW replica among these, including one that must leave.
func (f Facts) anyRW(among map[string]string) bool {
	for name := range among {
		if f.mode(name) == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// recordMode marks a replica that the engine uses as healthy, and one that is being rebuilt as not healthy.
func (p *pass) recordMode(r *v1beta2.Replica) {
	switch mode := p.mode(r.Name); {
	case mode == v1beta2.ReplicaModeRW && r.Spec.HealthyAt == "":
		first := !p.everHealthy()
		p.patch(StageFail, r, "healthyAt", stamp(p.Now))
		p.patch(StageFail, r, "lastHealthyAt", stamp(p.Now))
		if r.Spec.SalvageRequested {
			p.patch(StageFail, r, "salvageRequested", false)
		}
		if !first {
			p.report(r, Event{Reason: EventRebuilt, Note: fmt.Sprintf("Replica %s on %s was rebuilt.", r.Name, r.Spec.NodeID)})
		}
	case mode == v1beta2.ReplicaModeRW && r.Spec.SalvageRequested:
		p.patch(StageFail, r, "salvageRequested", false)
	case mode == v1beta2.ReplicaModeWO && r.Spec.HealthyAt != "":
		p.patch(StageFail, r, "healthyAt", "")
	}
}

// servesUnmapped reports whether a healthy replica is RW in the running engine, although it is not in the engine's spec. Its map was emptied: as
// long as the engine has no other RW replica in the map, it keeps all that it has, so that this one still has all data.
func (f Facts) servesUnmapped(r *v1beta2.Replica) bool {
	i := ofReplica(r)
	return r.Spec.HealthyAt != "" && i.wanted && f.running(i) && !f.nodeDown(i.node) && r.Status.Port != 0 &&
		f.engine.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW
}

// bring starts a replica that the engine lacks, and adds it to the engine once it runs. Until the rebuild is complete the replica does not
// count as healthy: that is written before the engine gets the replica.
func (p *pass) bring(r *v1beta2.Replica, wanted map[string]string) {
	if _, mapped := wanted[r.Name]; mapped {
		p.assign(r) // it may be assigned to the engine from before a migration
		return
	}
	if r.Spec.NodeID == "" || p.nodeDown(r.Spec.NodeID) {
		return
	}
	if r.Spec.HealthyAt != "" {
		p.patch(StageFail, r, "healthyAt", "")
	}
	i := ofReplica(r)
	_, listed := p.engine.Status.ReplicaModeMap[r.Name]
	switch {
	case !i.wanted && p.stopped(i):
		p.start(r)
	case listed && p.anyRW(wanted): // as it was before it returned; the engine removes it first
	case i.wanted && i.state == v1beta2.InstanceStateError: // another one may be placed
		p.fail(r, "it could not start to be rebuilt")
		p.halt(r)
	case p.overdue(r):
		p.fail(r, tooLate())
		p.halt(r)
	case p.slow(r, false):
	case i.wanted && p.running(i) && r.Status.Port != 0 && r.Spec.HealthyAt == "":
		wanted[r.Name] = address(r)
	}
}
