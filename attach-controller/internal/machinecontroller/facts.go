package machinecontroller

import (
	"maps"
	"slices"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The facts are the fields of an object that the machine reads; an update that changes none of them is filtered.

func volumeFacts(v *v1beta2.Volume) any {
	return []any{v.Spec, v.Labels, v.Finalizers, v.Status.State, v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID,
		v.Status.CurrentTargetNodeID,
		v.Status.Robustness, v.Status.CloneStatus, v.Status.RestoreRequired, v.Status.RestoreInitiated, v.Status.ExpansionRequired,
		v.Status.FrontendDisabled, v.Status.LastRevert, v.Status.IsStandby, v.Status.AcceptedSize, v.Status.MigrationFailure,
		v1beta2.EverAttached(v)}
}

func engineFacts(e *v1beta2.Engine) any {
	s := e.Status
	return []any{e.Spec, s.CurrentState, s.UUID, s.StorageIP, s.Port, nodeDown(s.Conditions), machine.NotStarted(s.Conditions),
		machine.OperationFailed(s.Conditions), s.ReplicaModeMap, s.CurrentSize, s.IsExpanding,
		s.LastExpansionError, s.LookedAt, s.RestoreStatus, s.LastRestoredBackup, s.CloneStatus, s.LastRevert, s.LastRevertError,
		v1beta2.IsPurging(s.PurgeStatus), secondLists(e)}
}

// secondLists are the snapshots that the second engine of a migration lists; nil for the volume's engine.
func secondLists(e *v1beta2.Engine) []string {
	if e.Spec.Active {
		return nil
	}
	return slices.Sorted(maps.Keys(e.Status.Snapshots))
}

func frontendFacts(f *v1beta2.EngineFrontend) any {
	return []any{f.Spec, f.Status.CurrentState, f.Status.UUID, nodeDown(f.Status.Conditions), machine.NotStarted(f.Status.Conditions),
		f.Status.TargetIP, f.Status.TargetPort,
		f.Status.SwitchoverPhase, f.Status.Switchover.OldTargetClosed, f.Status.SuspendedAt}
}

func replicaFacts(r *v1beta2.Replica) any {
	return []any{r.Spec, r.Status.CurrentState, r.Status.StorageIP, r.Status.Port, r.Status.UUID, nodeDown(r.Status.Conditions),
		machine.NotStarted(r.Status.Conditions)}
}

// nodeDown is the relevant part of an instance's conditions.
func nodeDown(list []v1beta2.Condition) bool {
	return conditions.IsTrue(list, v1beta2.InstanceNodeDown)
}

func nodeOf(n *v1beta2.Node) machine.Node {
	return machine.Node{Known: true, Down: v1beta2.IsNodeDown(n), Upgrading: n.Spec.UpgradeRequested}
}

func backupVolumeFacts(b *v1beta2.BackupVolume) any {
	return []any{b.Spec.VolumeName, b.Spec.BackupTargetName, b.Status.LastBackupName, b.Status.LastBackupAt, b.Status.Size, b.Status.Labels}
}

// snapshotFacts are the fields of a Snapshot for which the copy of its volume waits.
func snapshotFacts(s *v1beta2.Snapshot) any {
	ready := conditions.Get(s.Status.Conditions, v1beta2.SnapshotReady)
	if ready == nil {
		return s.Status.ReadyToUse
	}
	return []any{s.Status.ReadyToUse, ready.Status, ready.Message}
}

// listsSnapshots reports whether an engine lists other snapshots than before, or one of them was removed: a copy may wait for one.
func listsSnapshots(before, after *v1beta2.Engine) bool {
	return !maps.EqualFunc(before.Status.Snapshots, after.Status.Snapshots, func(was, is v1beta2.SnapshotInfo) bool {
		return was.Removed == is.Removed
	})
}
