package machine

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// healthy reports whether the volume may rely on a replica: it has all data, and stays. One that is being deleted counts only as the last
// copy.
func (f Facts) healthy(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp == nil && f.hasAllData(r) || f.isLastCopy(r)
}

// hasAllData reports whether a replica has all data as far as is known. Before the first attachment ever, every replica has.
func (f Facts) hasAllData(r *v1beta2.Replica) bool {
	return r.Spec.FailedAt == "" && !f.failed[r.Name] && (r.Spec.HealthyAt != "" || f.rebuilt[r.Name] || !f.everHealthy())
}

// isLastCopy reports whether a replica that is being deleted is a copy, and none that stays has all data: the volume runs from it.
func (f Facts) isLastCopy(r *v1beta2.Replica) bool {
	return f.isDeletedCopy(r) && !f.anyReplica(func(r *v1beta2.Replica) bool { return r.DeletionTimestamp == nil && f.hasAllData(r) })
}

// isDeletedCopy reports whether a replica that is being deleted has all data of a volume that was attached: it is kept until another one
// has it. On a node that is down its deletion gives it up, and once its removal began nothing of it counts.
func (f Facts) isDeletedCopy(r *v1beta2.Replica) bool {
	return r.DeletionTimestamp != nil && !v1beta2.RemovalBegan(r) && r.Spec.HealthyAt != "" && f.hasAllData(r) && !f.nodeDown(r.Spec.NodeID)
}

// servesBesides reports whether an engine reported last that it reads and writes another copy, which is being deleted.
func (f Facts) servesBesides(except string) bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool {
		return r.Name != except && f.isDeletedCopy(r) &&
			slices.ContainsFunc(f.Engines, func(e *v1beta2.Engine) bool { return f.modeOf(e, r) == v1beta2.ReplicaModeRW })
	})
}

// everHealthy reports whether the volume was attached once: a replica without HealthyAt is then one that must be rebuilt. The volume
// records it, too, since its replicas may be gone.
func (f Facts) everHealthy() bool {
	return v1beta2.EverAttached(f.Volume) ||
		f.anyReplica(func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" || r.Spec.LastHealthyAt != "" })
}

// lostItsStatus reports whether the volume was open, and does not record it: a backup of objects that was restored may lack their status.
func (f Facts) lostItsStatus() bool { return f.everHealthy() && !v1beta2.EverAttached(f.Volume) }

// otherHealthyReachable reports whether another healthy replica is on a node that is not down.
func (f Facts) otherHealthyReachable(except string) bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool { return r.Name != except && f.healthy(r) && !f.nodeDown(r.Spec.NodeID) })
}

func (f Facts) otherHealthy(except string) bool {
	return f.anyReplica(func(r *v1beta2.Replica) bool { return r.Name != except && f.healthy(r) })
}

// engineRuns reports whether the volume's engine runs and is observed.
func (f Facts) engineRuns() bool {
	i := ofEngine(f.engine)
	return i.exists && i.wanted && f.running(i) && !f.nodeDown(i.node)
}

func (f Facts) allFailed() bool {
	return len(f.Replicas) > 0 && !f.anyReplica(f.healthy)
}

// servesData reports whether the running engine has a copy that did not fail: a replica that is being deleted stays in the engine as long
// as it is the last.
func (f Facts) servesData() bool {
	good := func(r *v1beta2.Replica) bool {
		return f.mode(r.Name) == v1beta2.ReplicaModeRW && r.Spec.FailedAt == "" && !f.failed[r.Name]
	}
	return f.engineRuns() && f.anyReplica(good) || f.servesFromUnnamed()
}

// servesFromUnnamed reports whether the running engine reads and writes a replica without an object: the objects may be restored from an
// earlier time, when the volume had other replicas. The engine serves its users as long as it is not stopped.
func (f Facts) servesFromUnnamed() bool {
	if !f.engineRuns() {
		return false
	}
	for name, mode := range f.engine.Status.ReplicaModeMap {
		if named := f.anyReplica(func(r *v1beta2.Replica) bool { return r.Name == name }); !named && mode == v1beta2.ReplicaModeRW {
			return true
		}
	}
	return false
}

// allDropped reports whether the running engine has no replica left to serve from, also none that it is only about to let go.
func (f Facts) allDropped() bool {
	if servesAny(f.engine) {
		return false
	}
	for name := range f.engine.Spec.ReplicaAddressMap {
		if f.mode(name) != v1beta2.ReplicaModeERR {
			return false
		}
	}
	return len(f.engine.Spec.ReplicaAddressMap) > 0
}

// mode returns the mode that the running engine reports of a replica in its spec; empty if none.
func (f Facts) mode(replica string) string {
	if f.engine == nil {
		return ""
	}
	return modeIn(f.engine, replica)
}

// modeIn returns the mode that an engine reported last of a replica in its spec; empty if none.
func modeIn(e *v1beta2.Engine, replica string) string {
	if _, mapped := e.Spec.ReplicaAddressMap[replica]; !mapped {
		return ""
	}
	return e.Status.ReplicaModeMap[replica]
}
