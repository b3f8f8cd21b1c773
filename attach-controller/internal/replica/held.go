package replica

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/snapshotlimit"
)

// EngineHolds returns why a running engine does not copy to a replica of its spec; empty: the engine copies, or has every replica. A
// replica that waits for this takes no slot of its node: it may wait for a person.
func EngineHolds(e *v1beta2.Engine) string {
	switch {
	case e == nil:
		return ""
	case hasInMode(e, v1beta2.ReplicaModeWO):
		return notFilled(e)
	case !hasInMode(e, ""):
		return ""
	}
	if v1beta2.IsRestoring(e.Status.RestoreStatus) {
		return fmt.Sprintf("Engine %s restores a backup, and takes in no replica before that ends.", e.Name)
	}
	if v1beta2.IsCloning(e.Status.CloneStatus) {
		return fmt.Sprintf("Engine %s copies another volume, and takes in no replica before that ends.", e.Name)
	}
	if v1beta2.FillsByRestore(e) {
		return "" // no snapshot is taken for a replica that a restore fills
	}
	if limit := snapshotlimit.Reached(e.Spec.VolumeName, e.Status.Snapshots, snapshotlimit.OfEngine(e)); limit != "" {
		return "A rebuild takes a snapshot. " + limit
	}
	return ""
}

// notFilled returns why the restore that is to fill a write-only replica does not begin; empty: it has begun, or no restore fills replicas.
func notFilled(e *v1beta2.Engine) string {
	c := conditions.Get(e.Status.Conditions, v1beta2.EngineOperations)
	waits := v1beta2.FillsByRestore(e) && c != nil && c.Status == v1beta2.ConditionFalse
	if !waits || v1beta2.IsRestoring(e.Status.RestoreStatus) {
		return ""
	}
	return "A restore is to fill the replica. " + c.Message
}

// hasInMode reports whether an engine reported a replica of its spec in a mode; with an empty mode, whether it has yet to report a replica.
func hasInMode(e *v1beta2.Engine, mode string) bool {
	for name := range e.Spec.ReplicaAddressMap {
		if e.Status.ReplicaModeMap[name] == mode {
			return true
		}
	}
	return false
}

// Waits reports whether a replica that lacks its data waits at its engine, or until the volume has moved: no data is copied to it now.
func Waits(w World, r *v1beta2.Replica) bool {
	if w.Engine == nil || r.Spec.HealthyAt != "" || w.mode(r) != "" && w.mode(r) != v1beta2.ReplicaModeWO {
		return false
	}
	if _, mapped := w.Engine.Spec.ReplicaAddressMap[r.Name]; !mapped {
		return w.Volume != nil && w.migrating() // no engine gets another replica before that ends
	}
	return EngineHolds(w.Engine) != ""
}

// heldRebuild returns why the rebuild of a replica that has its place does not begin; empty: no such rebuild waits.
func (w *World) heldRebuild(g groups) string {
	if slices.ContainsFunc(g.coming, func(r *v1beta2.Replica) bool { return Waits(*w, r) }) {
		return EngineHolds(w.Engine)
	}
	return ""
}
