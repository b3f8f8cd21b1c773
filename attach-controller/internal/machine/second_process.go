package machine

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/mergepatch"
)

// A v1 replica process serves one engine. So the second engine of a migration gets second processes: for each replica that is RW in the
// first engine a further Replica object of the same directory, inactive and without marks. They are no copies: Facts.Replicas lacks them,
// and only the functions of this file, of migration.go and of close.go see them.
//
//	begin       Engine (stopped, without replicas) → its Replicas → all run → the engine's address map, and it starts
//	hand over   first engine proven stopped → marks of what the second lacks → new Replicas active → old ones inactive → old ones stop
//	            → first Engine deleted, Volume.status moves → old Replicas deleted
//	roll back   second engine stops → its Replicas stop → all of them deleted
//
// Nothing may change the chain of files meanwhile, since only one of the two processes would notice: all that would waits for the end of
// status.currentMigrationNodeID, which lasts until no second process is left that may run.

// processesOf returns the second processes that were started for an engine.
func (f Facts) processesOf(e *v1beta2.Engine) (out []*v1beta2.Replica) {
	for _, r := range f.seconds {
		if e != nil && r.Spec.EngineName == e.Name {
			out = append(out, r)
		}
	}
	return out
}

// secondProcessOf returns an engine's second process over the directory of a replica, or nil.
func (f Facts) secondProcessOf(e *v1beta2.Engine, r *v1beta2.Replica) *v1beta2.Replica {
	for _, second := range f.processesOf(e) {
		if v1beta2.HasSameDirectory(second, r) {
			return second
		}
	}
	return nil
}

// modeOf returns the mode that an engine reported last of a copy, by the process over its directory that the engine was given; empty if
// none.
func (f Facts) modeOf(e *v1beta2.Engine, copied *v1beta2.Replica) string {
	if mode := modeIn(e, copied.Name); mode != "" {
		return mode
	}
	for _, second := range f.seconds {
		if mode := modeIn(e, second.Name); mode != "" && v1beta2.HasSameDirectory(second, copied) {
			return mode
		}
	}
	return ""
}

// inDirectoryOf reports whether an engine was given a process over the directory of the named Replica, and in what mode it has that.
func (f Facts) inDirectoryOf(e *v1beta2.Engine, name string) (given bool, mode string) {
	all := slices.Concat(f.Replicas, f.seconds)
	at := slices.IndexFunc(all, func(r *v1beta2.Replica) bool { return r.Name == name })
	for _, r := range all {
		if r.Name != name && (at < 0 || !v1beta2.HasSameDirectory(all[at], r)) {
			continue
		}
		if _, given := e.Spec.ReplicaAddressMap[r.Name]; given {
			return true, modeIn(e, r.Name)
		}
	}
	_, given = e.Spec.ReplicaAddressMap[name]
	return given, modeIn(e, name)
}

// migrationBlocker returns why no second engine may start over the replicas of the first one now; empty if it may. Real v1 engines refuse
// some of these, and would leave the directories different in others.
func (f Facts) migrationBlocker() string {
	e := f.engine
	if f.isV2() {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(e.Spec.ReplicaAddressMap)) {
		switch e.Status.ReplicaModeMap[name] {
		case "":
			return "engine " + e.Name + " has not reported replica " + name + ", which may be about to be rebuilt."
		case v1beta2.ReplicaModeWO:
			return "replica " + name + " is being rebuilt."
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Status.ReplicaModeMap)) {
		if e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeWO {
			return "replica " + name + " is being rebuilt."
		}
	}
	for _, r := range f.migratingCopies() {
		if r.Spec.DataDirectoryName == "" {
			return "the directory of replica " + r.Name + " is not known."
		}
	}
	if usable := f.robustness(); usable != v1beta2.VolumeRobustnessHealthy && usable != v1beta2.VolumeRobustnessDegraded {
		return "the volume's robustness is " + usable + "."
	}
	return f.engineWork()
}

// engineWork returns what a v1 engine does that changes its chain of files, or is about to do; empty if nothing.
func (f Facts) engineWork() string {
	s, spec := f.engine.Status, f.engine.Spec
	restored := spec.RequestedBackupRestore == "" || spec.RequestedBackupRestore == s.LastRestoredBackup
	switch {
	case s.IsExpanding || s.CurrentSize > 0 && s.CurrentSize < spec.VolumeSize:
		return "the volume is being expanded."
	case v1beta2.IsPurging(s.PurgeStatus):
		return "snapshots are being purged."
	case spec.RequestedRevert != "" && spec.RequestedRevert != s.LastRevert:
		return "the volume is being reverted to a snapshot."
	case !restored || f.Volume.Status.RestoreRequired || f.Volume.Status.CloneStatus.State == v1beta2.CloneInitiated:
		return "the volume is being filled with its data."
	case len(spec.UpgradedReplicaAddressMap) > 0:
		return "the engine's image is being changed."
	}
	return ""
}

// newSecondProcess returns the second process over the directory of a replica. Its name follows from the engine's identity, so that a pass
// that is repeated creates none twice, and a later attempt has other names.
func (f Facts) newSecondProcess(e *v1beta2.Engine, r *v1beta2.Replica) *v1beta2.Replica {
	sum := fnv.New32a()
	_, _ = fmt.Fprintf(sum, "%s/%s", e.UID, r.Name)
	out := &v1beta2.Replica{ObjectMeta: f.objectMeta(fmt.Sprintf("%s-r-%08x", f.Volume.Name, sum.Sum32()), r.Spec.NodeID), Spec: r.Spec}
	out.Labels[v1beta2.LabelDiskUUID] = r.Spec.DiskID
	s := &out.Spec
	s.Active, s.EngineName, s.DesireState, s.Image = false, e.Name, v1beta2.InstanceStateRunning, e.Spec.Image
	s.HealthyAt, s.LastHealthyAt, s.FailedAt, s.LastFailedAt = "", "", "", ""
	s.SalvageRequested, s.EvictionRequested, s.RebuildRetryCount = false, false, 0
	return out
}

// migratingCopies returns the copies over which the second engine runs: those that are RW in the first one. A copy that is being deleted is
// left behind, unless there is no other.
func (f Facts) migratingCopies() []*v1beta2.Replica {
	var staying, going []*v1beta2.Replica
	for _, r := range f.Replicas {
		switch {
		case f.mode(r.Name) != v1beta2.ReplicaModeRW || r.Spec.FailedAt != "" || f.failed[r.Name]:
		case r.DeletionTimestamp != nil:
			going = append(going, r)
		default:
			staying = append(staying, r)
		}
	}
	if len(staying) == 0 {
		return going
	}
	return staying
}

// markRebuilt marks the copies whose rebuild ended after the migration was requested: only an engine that does not migrate records that,
// and a volume that moves without another replica needs to know that these have all data. It reports whether it marked any.
func (m migration) markRebuilt() (marked bool) {
	for _, r := range m.migratingCopies() {
		if !m.isV2() && r.Spec.HealthyAt == "" && r.DeletionTimestamp == nil {
			m.patch(StageMark, r, "healthyAt", stamp(m.Now))
			m.patch(StageMark, r, "lastHealthyAt", stamp(m.Now))
			marked = true
		}
	}
	return marked
}

// startSecondProcesses creates and starts the second processes, and starts the second engine over them once all run.
func (m migration) startSecondProcesses(target string) {
	if e := ofEngine(m.second); e.wanted {
		m.secondRuns(target)
		return
	}
	addresses, ready := map[string]string{}, true
	for _, r := range m.migratingCopies() {
		second := m.secondProcessOf(m.second, r)
		if second == nil {
			m.add(Write{Kind: Create, Stage: StageMake, Object: m.newSecondProcess(m.second, r)})
			ready = m.wait(v1beta2.ReasonMigrating, "A second process over the data of replica "+r.Name+" on "+r.Spec.NodeID+
				" is about to be created.")
			continue
		}
		if i := ofReplica(second); !m.running(i) || second.Status.Port == 0 {
			ready = m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("Process %s on %s is %s and must run before the second engine starts.%s",
				second.Name, i.node, m.stateOf(i), NotStarted(second.Status.Conditions)))
			continue
		}
		addresses[second.Name] = address(second)
	}
	switch {
	case !ready:
	case len(addresses) == 0 || len(addresses) != len(m.processesOf(m.second)):
		m.wait(v1beta2.ReasonMigrating, "The replicas of the first engine changed: another second engine is created.")
		m.endMigrationEngine()
	case m.requestPoll():
		m.out.Fresh = true
		m.patch(StageRun, m.second, "replicaAddressMap", mergepatch.OfMap(m.second.Spec.ReplicaAddressMap, addresses))
		m.patch(StageRun, m.second, "desireState", v1beta2.InstanceStateRunning)
		m.wait(v1beta2.ReasonMigrating, "Engine "+m.second.Name+" on "+target+" is about to start.")
	default:
		m.wait(v1beta2.ReasonMigrating, "The second engine starts after a poll of the first one.")
	}
}

// secondProcessUnwanted reports whether a second process of the second engine is not to run any more.
func (f Facts) secondProcessUnwanted() bool {
	return slices.ContainsFunc(f.processesOf(f.second), func(r *v1beta2.Replica) bool {
		return r.DeletionTimestamp != nil || !ofReplica(r).wanted
	})
}

// secondReported reports whether the second engine has reported each of its replicas. Unknown is not RW: until then the first engine is not
// stopped for it.
func (m migration) secondReported() bool {
	if m.isV2() {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(m.second.Spec.ReplicaAddressMap)) {
		if m.second.Status.ReplicaModeMap[name] == "" {
			return m.wait(v1beta2.ReasonMigrating, "Engine "+m.second.Name+" has not reported its replica "+name+" yet.")
		}
	}
	return true
}

// secondServesNothing reports whether a v1 engine that is to take over has reported that it dropped all its replicas.
func (f Facts) secondServesNothing() bool {
	return !f.isV2() && len(f.second.Status.ReplicaModeMap) > 0 && !servesAny(f.second)
}

// handOverDirectories makes the second processes the volume's replicas, after the first engine was proven to have stopped. It reports
// whether the volume has them, and no other process over their directories may run. A directory always has an active Replica: the old
// object is made inactive only after the new one is stored as active.
func (m migration) handOverDirectories(target string) bool {
	if m.isV2() {
		return true
	}
	done := true
	for _, r := range m.Replicas {
		if !m.handOverDirectory(r) {
			done = m.wait(v1beta2.ReasonMigrating, "The replicas of the engine on "+target+" become those of the volume.")
		}
	}
	return done && m.stopSecondProcesses()
}

// handOverDirectory does the next step for the directory of one copy, and reports whether none is left.
func (m migration) handOverDirectory(r *v1beta2.Replica) bool {
	if r.Spec.EngineName == m.second.Name {
		return true
	}
	next := m.secondProcessOf(m.second, r)
	if next == nil || modeIn(m.second, next.Name) != v1beta2.ReplicaModeRW {
		m.leaveBehind(r)
		if m.hasAllData(r) && r.DeletionTimestamp == nil {
			m.markFailed(r, "the volume has moved without it")
		}
		return true
	}
	m.out.Fresh = true
	if !next.Spec.Active {
		m.patch(StageMark, next, "active", true)
		m.patch(StageMark, next, "healthyAt", stamp(m.Now))
		m.patch(StageMark, next, "lastHealthyAt", stamp(m.Now))
		return false
	}
	m.patch(StageRun, r, "active", false)
	m.stopReplica(r)
	return false
}

// stopSecondProcesses stops the processes that are no copies, and reports whether none may run on a node that is not down.
func (m migration) stopSecondProcesses() bool {
	stopped := true
	for _, r := range m.seconds {
		m.stopReplica(r)
		if i := ofReplica(r); !m.stopped(i) && !m.nodeDown(i.node) {
			stopped = m.wait(v1beta2.ReasonMigrating, fmt.Sprintf("Process %s on %s, which the migration leaves behind, is %s and must stop.",
				r.Name, i.node, m.stateOf(i)))
		}
	}
	return stopped
}

// endSecondProcesses stops the processes that are no copies, and deletes those that have stopped. The data stays: it is that of the copies.
func (m migration) endSecondProcesses() bool {
	stopped := m.stopSecondProcesses()
	m.deleteSecondProcesses()
	return stopped
}

// deleteSecondProcesses deletes the second processes that have stopped.
func (d *draft) deleteSecondProcesses() {
	for _, r := range d.seconds {
		if d.stopped(ofReplica(r)) && r.DeletionTimestamp == nil {
			d.add(Write{Kind: Delete, Stage: StageRemove, Object: r})
		}
	}
}

// directoryInUse reports whether a second process over the directory of a copy may run: the copy is not rebuilt beside it.
func (f Facts) directoryInUse(copied *v1beta2.Replica) bool {
	return slices.ContainsFunc(f.seconds, func(r *v1beta2.Replica) bool {
		return v1beta2.HasSameDirectory(r, copied) && !f.stopped(ofReplica(r))
	})
}

// secondLacksSnapshot reports whether the second engine of a v1 volume was started while the first one took a snapshot: its processes
// opened the chain of files as it was before.
func (f Facts) secondLacksSnapshot() bool {
	if f.isV2() || len(f.second.Status.Snapshots) == 0 {
		return false
	}
	for name := range f.engine.Status.Snapshots {
		if _, has := f.second.Status.Snapshots[name]; !has {
			return true
		}
	}
	return false
}
