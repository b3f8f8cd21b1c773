package machine

import (
	"fmt"
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// membership maintains the running engine's replicas: rebuilt ones become healthy, new ones are added once they run, and those that failed
// or leave are removed.
type membership struct{ *draft }

func (m membership) decide() {
	if !m.engineRuns() || m.engine.Spec.NodeID != m.engineNode(m.Volume.Spec.NodeID) {
		return
	}
	wanted := maps.Clone(m.engine.Spec.ReplicaAddressMap)
	if wanted == nil {
		wanted = map[string]string{}
	}
	known, lost := map[string]bool{}, !m.anyRW(wanted)
	for _, r := range m.Replicas {
		known[r.Name] = true
		switch {
		case r.Spec.FailedAt != "" || m.failed[r.Name]:
			m.removeFailed(r, wanted)
		case r.DeletionTimestamp != nil:
			m.removeRedundant(r, wanted)
		case m.removedByUpgrade(r):
			m.removeForUpgrade(r, wanted)
		case lost && m.servesUnmapped(r):
			m.out.Fresh = true
			wanted[r.Name] = address(r)
		default:
			m.recordMode(r)
			m.addReplica(r, wanted)
		}
	}
	for name := range wanted {
		if !known[name] {
			delete(wanted, name)
		}
	}
	if len(wanted) > 0 && !same(wanted, m.engine.Spec.ReplicaAddressMap) {
		m.patch(StageRun, m.engine, "replicaAddressMap", mergepatch.OfMap(m.engine.Spec.ReplicaAddressMap, wanted))
	}
}

// removeFailed removes a failed replica. One that the engine still relies on, or may rely on, stays until it has another. [UPG-1]
func (m membership) removeFailed(r *v1beta2.Replica, wanted map[string]string) {
	if m.mode(r.Name) == v1beta2.ReplicaModeERR {
		delete(wanted, r.Name)
		m.stopReplica(r)
		return
	}
	m.removeRedundant(r, wanted)
}

// removeRedundant removes a replica if another one that is RW in a fresh poll stays. It runs until the engine no longer lists it: if the
// other one is lost before that, it is added again. [UPG-1]
func (m membership) removeRedundant(r *v1beta2.Replica, wanted map[string]string) {
	_, mapped := wanted[r.Name]
	_, listed := m.engine.Status.ReplicaModeMap[r.Name]
	switch {
	case mapped:
		if m.otherRW(r.Name, wanted) && m.requestPoll() {
			delete(wanted, r.Name)
			m.leaveBehind(r)
		}
	case listed && !m.anyRW(wanted) && r.Status.Port != 0:
		wanted[r.Name] = address(r)
	case !listed:
		m.stopReplica(r)
		m.leaveBehind(r)
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
func (m membership) recordMode(r *v1beta2.Replica) {
	switch mode := m.mode(r.Name); {
	case mode == v1beta2.ReplicaModeRW && r.Spec.HealthyAt == "":
		first := !m.everHealthy()
		m.patch(StageMark, r, "healthyAt", stamp(m.Now))
		m.patch(StageMark, r, "lastHealthyAt", stamp(m.Now))
		if r.Spec.SalvageRequested {
			m.patch(StageMark, r, "salvageRequested", false)
		}
		if !first {
			m.emitWith(r, Event{Reason: EventRebuilt, Note: fmt.Sprintf("Replica %s on %s was rebuilt.", r.Name, r.Spec.NodeID)})
		}
	case mode == v1beta2.ReplicaModeRW && r.Spec.SalvageRequested:
		m.patch(StageMark, r, "salvageRequested", false)
	case mode == v1beta2.ReplicaModeWO && r.Spec.HealthyAt != "":
		m.patch(StageMark, r, "healthyAt", "")
	}
}

// servesUnmapped reports whether a healthy replica is RW in the running engine, although it is not in the engine's spec. Its map was
// emptied: as long as the engine has no other RW replica in the map, it keeps all that it has, so that this one still has all data.
func (f Facts) servesUnmapped(r *v1beta2.Replica) bool {
	i := ofReplica(r)
	return r.Spec.HealthyAt != "" && i.wanted && f.running(i) && !f.nodeDown(i.node) && r.Status.Port != 0 &&
		f.engine.Status.ReplicaModeMap[r.Name] == v1beta2.ReplicaModeRW
}

// addReplica starts a replica that the engine lacks, and adds it to the engine once it runs. Until the rebuild is complete the replica does
// not count as healthy: that is written before the engine gets the replica.
func (m membership) addReplica(r *v1beta2.Replica, wanted map[string]string) {
	if _, mapped := wanted[r.Name]; mapped {
		m.assignReplica(r) // it may be assigned to the engine from before a migration
		return
	}
	if r.Spec.NodeID == "" || m.nodeDown(r.Spec.NodeID) {
		return
	}
	if r.Spec.HealthyAt != "" {
		m.patch(StageMark, r, "healthyAt", "")
	}
	i := ofReplica(r)
	_, listed := m.engine.Status.ReplicaModeMap[r.Name]
	switch {
	case m.directoryInUse(r): // its node was down when the volume moved
	case !i.wanted && m.stopped(i):
		m.startReplica(r)
	case listed && m.anyRW(wanted): // as it was before it returned; the engine removes it first
	case i.failed(): // another one may be placed
		m.fail(r, "it could not start to be rebuilt")
		m.stopReplica(r)
	case m.checkStartTimeout(r):
		m.fail(r, tooLate())
		m.stopReplica(r)
	case m.reportSlow(r, false):
	case m.canBeRebuilt(r):
		wanted[r.Name] = address(r)
	}
}

// canBeRebuilt reports whether a replica runs, and is known not to be healthy.
func (f Facts) canBeRebuilt(r *v1beta2.Replica) bool {
	i := ofReplica(r)
	return i.wanted && f.running(i) && r.Status.Port != 0 && r.Spec.HealthyAt == ""
}
