package machine

import (
	"fmt"
	"maps"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// migration starts a second engine beside the first, then switches the volume over to it or removes it again. The second engine of a v1
// volume has replica processes of its own (second_process.go).
type migration struct{ *draft }

func (m migration) decide() {
	wanted, target := m.Volume.Spec.NodeID, m.Volume.Spec.MigrationNodeID
	switch {
	case target == "" && m.migration == "":
		if m.second != nil || m.secondFrontend != nil || len(m.seconds) > 0 {
			m.endMigrationEngine()
		}
	case target != "" && m.current == wanted:
		m.migration = target
		if m.Volume.Status.CurrentMigrationNodeID == target {
			m.startSecond(target)
		}
	case target == "" && m.current == wanted:
		if m.endMigrationEngine() {
			m.migration = ""
		}
	case target == "" && wanted == m.migration:
		m.handOver(wanted)
	default:
		m.state = v1beta2.VolumeStateDetaching
	}
}

// startSecond brings the second engine up, and for v2 its frontend. A second engine that cannot be used is ended, and another one begins.
func (m migration) startSecond(target string) {
	switch {
	case m.nodeDown(target) || !m.engineRuns():
		m.wait(v1beta2.ReasonMigrating, "The migration to "+target+" waits for both nodes.")
	case m.second == nil:
		m.beginSecond(target)
	case m.hasFailed(target):
		m.waitAfterFailure(target)
		m.endMigrationEngine()
	case m.recordFailure(target):
	case m.secondUnwanted(target) || m.secondOutdated():
		m.wait(v1beta2.ReasonMigrating, "The engine on "+m.second.Spec.NodeID+" cannot be used for the migration: another one is created.")
		m.endMigrationEngine()
	case m.isV2():
		m.startSecondFrontend(target)
	default:
		m.startSecondProcesses(target)
	}
}

// beginSecond creates the second engine: for v2 over the replicas that are RW in a fresh poll, for v1 without any replica yet.
func (m migration) beginSecond(target string) {
	if !m.endSecondProcesses() || m.waitAfterFailure(target) {
		return
	}
	if m.leaveOutUnrebuilt() {
		m.wait(v1beta2.ReasonMigrating, "The migration to "+target+" begins without the replicas whose rebuild has not begun: they are rebuilt "+
			"when it has ended.")
		return
	}
	if why := m.migrationBlocker(); why != "" {
		m.wait(v1beta2.ReasonMigrating, "The migration to "+target+" has not begun: "+why)
		return
	}
	switch {
	case m.markRebuilt():
	case m.requestPoll():
		m.add(Write{Kind: Create, Stage: StageMake, Object: m.newSecondEngine(target)})
	}
	m.wait(v1beta2.ReasonMigrating, "A second engine on "+target+" is about to be created.")
}

// leaveOutUnrebuilt removes from a v1 engine the replicas whose rebuild has not begun, and reports whether there are any. The migration
// would wait for these rebuilds, and they may never begin: a process may have failed, and no purge makes room beside a migration. The
// engine gets them again when the migration has ended. A replica that may have all data stays until its mode is known.
func (m migration) leaveOutUnrebuilt() bool {
	wanted := maps.Clone(m.engine.Spec.ReplicaAddressMap)
	maps.DeleteFunc(wanted, func(name, _ string) bool {
		complete := m.anyReplica(func(r *v1beta2.Replica) bool { return r.Name == name && m.hasAllData(r) })
		return m.mode(name) == "" && !complete
	})
	if m.isV2() || same(wanted, m.engine.Spec.ReplicaAddressMap) || !m.anyRW(wanted) {
		return false
	}
	if m.requestPoll() {
		m.out.Fresh = true
		m.patch(StageRun, m.engine, "replicaAddressMap", mergepatch.OfMap(m.engine.Spec.ReplicaAddressMap, wanted))
	}
	return true
}

// startSecondFrontend connects the second frontend of a v2 volume once the second engine runs.
func (m migration) startSecondFrontend(target string) {
	if !m.secondRuns(target) || !m.hasFrontend() {
		return
	}
	if m.secondFrontend == nil {
		m.add(Write{Kind: Create, Stage: StageMake, Object: m.newFrontend(m.second, target)})
		m.wait(v1beta2.ReasonMigrating, "A second frontend on "+target+" is about to be created.")
		return
	}
	m.connectFrontend(m.secondFrontend, m.second, target)
}

// secondRuns reports whether the second engine runs.
func (m migration) secondRuns(target string) bool {
	e := ofEngine(m.second)
	return m.running(e) || m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("Engine %s is about to run on %s for the migration; it is %s.%s",
		m.second.Name, target, m.stateOf(e), NotStarted(m.second.Status.Conditions)))
}

// secondUnwanted reports whether the second engine belongs to a migration that was rolled back or retargeted.
func (f Facts) secondUnwanted(target string) bool {
	e, frontend := ofEngine(f.second), f.secondFrontend
	if f.second.DeletionTimestamp != nil || e.node != target || frontend != nil && frontend.DeletionTimestamp != nil {
		return true
	}
	return !e.wanted && (f.isV2() || len(f.second.Spec.ReplicaAddressMap) > 0) || f.secondProcessUnwanted()
}

// secondOutdated reports whether the first engine dropped a replica that the second one was given, and the second one has not dropped it.
// Such a second engine must not be used: it would never start, or would serve stale data.
func (f Facts) secondOutdated() bool {
	running := f.running(ofEngine(f.second))
	for name := range f.second.Spec.ReplicaAddressMap {
		given, mode := f.inDirectoryOf(f.engine, name)
		gone := !given || mode == v1beta2.ReplicaModeERR
		if gone && !(running && f.second.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeERR) {
			return true
		}
	}
	return f.secondLacksSnapshot()
}

// handOver stops the first engine and makes the second one the volume's. If that is impossible, it detaches everything, and the volume is
// attached again at the target.
func (m migration) handOver(target string) {
	if m.second == nil { // the first is gone already
		if first := ofEngine(m.engine); first.node == target && m.running(first) {
			m.current, m.migration = target, ""
		} else {
			m.state = v1beta2.VolumeStateDetaching
		}
		return
	}
	if m.engine != nil && m.engine.Spec.NodeID == target {
		m.engine, m.second, m.frontend, m.secondFrontend = m.second, m.engine, m.secondFrontend, m.frontend
	}
	if m.cannotHandOver(target) {
		m.state = v1beta2.VolumeStateDetaching
		return
	}
	if !m.secondReported() {
		return
	}
	m.activateSecond()
	first := ofEngine(m.engine)
	if !m.stopInstances(m.frontend, m.engine) || !m.stopped(first) || !m.stopped(ofFrontend(m.frontend)) {
		m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("The engine on %s stops; the engine on %s takes over.", first.node, target))
		return
	}
	if m.second.Spec.Active && m.handOverDirectories(target) {
		m.remove(m.engine)
		if m.frontend != nil {
			m.remove(m.frontend)
		}
		m.current, m.migration = target, ""
		m.emit(Event{Reason: EventMigrated, Note: "The volume has moved to " + target + "."})
	}
}

// cannotHandOver reports whether the second engine cannot take over: it failed, or lacks data, or the first one is not known to have
// stopped.
func (f Facts) cannotHandOver(target string) bool {
	first := ofEngine(f.engine)
	unproven := !f.stopped(first) && (f.nodeDown(first.node) || f.nodeDown(target))
	return unproven || f.secondOutdated() || ofEngine(f.second).state == v1beta2.InstanceStateError || ofFrontend(f.secondFrontend).failed() ||
		f.secondServesNothing()
}

// activateSecond records that the second engine and its frontend are the volume's.
func (m migration) activateSecond() {
	if !m.second.Spec.Active {
		m.patch(StageRun, m.second, "active", true)
	}
	if f := m.secondFrontend; f != nil && !f.Spec.Active {
		m.patch(StageRun, f, "active", true)
	}
}

// endMigrationEngine stops and deletes the second engine of a migration that was rolled back, and its replica processes; it reports whether
// they stopped.
func (m migration) endMigrationEngine() bool {
	if !m.stopInstances(m.secondFrontend, m.second) || !m.stopped(ofEngine(m.second)) || !m.stopped(ofFrontend(m.secondFrontend)) {
		return m.wait(v1beta2.ReasonMigrating, "The second engine stops.")
	}
	if !m.endSecondProcesses() {
		return false
	}
	m.deleteSecond()
	return true
}
