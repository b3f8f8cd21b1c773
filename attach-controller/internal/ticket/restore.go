package ticket

import (
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// restore holds a volume that still needs data from its backup. Incomplete data must not be visible: the frontend is off.
func restore(w World, _ []wish) []wish {
	if !w.Volume.Status.RestoreRequired || w.makesWay() {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherRestore, v1beta2.TicketValueTrue)}
}

// makesWay reports whether a standby volume is detached while the data engine of a node that it uses is upgraded: its restore never ends,
// and without a frontend its target cannot move. The current copy is finished first, and no other one begins.
func (w World) makesWay() bool {
	closed := func(node string) bool { n := w.Nodes[node]; return n != nil && n.Spec.UpgradeRequested }
	if !w.Volume.Spec.Standby || w.Volume.Spec.DataEngine != v1beta2.DataEngineV2 || !closed(w.Volume.Spec.NodeID) &&
		!slices.ContainsFunc(w.Replicas, func(r v1beta2.Replica) bool { return closed(r.Spec.NodeID) }) {
		return false
	}
	return !w.has(v1beta2.AttacherRestore, w.Volume.Name) || Filled(w.Engine)
}

// Filled reports whether the engine has the requested backup.
func Filled(e *v1beta2.Engine) bool {
	if e == nil || e.Spec.RequestedBackupRestore == "" || e.Status.LastRestoredBackup != e.Spec.RequestedBackupRestore {
		return false
	}
	return !v1beta2.IsRestoring(e.Status.RestoreStatus)
}
