package replica

import (
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/snapshotlimit"
)

// EngineHolds returns why a running engine copies nothing to a replica that it is to take in; empty: it copies, or lacks none. Such a
// replica takes no slot of its node: what the engine waits for may be a person.
func EngineHolds(e *v1beta2.Engine) string {
	switch {
	case e == nil:
		return ""
	case len(inMode(e, v1beta2.ReplicaModeWO)) > 0:
		return notFilled(e)
	case len(inMode(e, "")) == 0:
		return ""
	}
	for _, where := range slices.Sorted(maps.Keys(e.Status.RestoreStatus)) {
		if e.Status.RestoreStatus[where].IsRestoring {
			return fmt.Sprintf("Engine %s restores a backup, and takes in no replica before that ends.", e.Name)
		}
	}
	if v1beta2.IsCloning(e.Status.CloneStatus) {
		return fmt.Sprintf("Engine %s copies another volume, and takes in no replica before that ends.", e.Name)
	}
	if e.Spec.RequestedBackupRestore != "" && e.Spec.DataEngine != v1beta2.DataEngineV2 {
		return "" // no snapshot is taken for a replica that a restore fills
	}
	if limit := snapshotlimit.Reached(e.Spec.VolumeName, e.Status.Snapshots, snapshotlimit.OfEngine(e)); limit != "" {
		return "A rebuild takes a snapshot. " + limit
	}
	return ""
}

// notFilled returns why no restore begins that fills a write-only replica; empty: one goes on, or is not waited for.
func notFilled(e *v1beta2.Engine) string {
	c := conditions.Get(e.Status.Conditions, v1beta2.EngineOperations)
	if e.Spec.RequestedBackupRestore == "" || e.Spec.DataEngine == v1beta2.DataEngineV2 || c == nil || c.Status != v1beta2.ConditionFalse {
		return ""
	}
	for _, one := range e.Status.RestoreStatus {
		if one.IsRestoring {
			return ""
		}
	}
	return "A restore is to fill the replica. " + c.Message
}

// inMode returns the replicas of an engine's spec that it reported in a mode; those that it has not reported, without one.
func inMode(e *v1beta2.Engine, mode string) (out []string) {
	for name := range e.Spec.ReplicaAddressMap {
		if e.Status.ReplicaModeMap[name] == mode {
			out = append(out, name)
		}
	}
	return out
}

// Waits reports whether a replica that lacks its data waits at its engine, so that nothing is copied to it now.
func Waits(w World, r *v1beta2.Replica) bool {
	if w.Engine == nil || r.Spec.HealthyAt != "" || w.mode(r) != "" && w.mode(r) != v1beta2.ReplicaModeWO {
		return false
	}
	_, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]
	return mapped && EngineHolds(w.Engine) != ""
}

// heldRebuild returns why the rebuild that is under way does not begin; empty: none waits.
func (w *World) heldRebuild(g groups) string {
	if slices.ContainsFunc(g.coming, func(r *v1beta2.Replica) bool { return Waits(*w, r) }) {
		return EngineHolds(w.Engine)
	}
	return ""
}
