package machinecontroller

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// facts are the fields of an object that the machine reads; an update that changes none of them is filtered.
type facts func(client.Object) any

func changed(of facts) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return differ(of, e.ObjectOld, e.ObjectNew) }}
}

func differ(of facts, before, after client.Object) bool {
	return before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!equality.Semantic.DeepEqual(of(before), of(after))
}

func volumeFacts(obj client.Object) any {
	v := obj.(*v1beta2.Volume)
	return []any{v.Spec, v.Labels, v.Finalizers, v.Status.State, v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID,
		v.Status.CurrentTargetNodeID,
		v.Status.Robustness, v.Status.CloneStatus, v.Status.RestoreRequired, v.Status.RestoreInitiated, v.Status.ExpansionRequired,
		v.Status.FrontendDisabled, v.Status.LastRevert, v.Status.IsStandby, v.Status.AcceptedSize}
}

func engineFacts(obj client.Object) any {
	e := obj.(*v1beta2.Engine)
	s := e.Status
	return []any{e.Spec, s.CurrentState, s.UUID, s.StorageIP, s.Port, nodeDown(s.Conditions), machine.NotStarted(s.Conditions),
		machine.OperationFailed(s.Conditions), s.ReplicaModeMap, s.CurrentSize, s.IsExpanding,
		s.LastExpansionError, s.LookedAt, s.RestoreStatus, s.LastRestoredBackup, s.CloneStatus, s.LastRevert, s.LastRevertError,
		v1beta2.IsPurging(s.PurgeStatus)}
}

func frontendFacts(obj client.Object) any {
	f := obj.(*v1beta2.EngineFrontend)
	return []any{f.Spec, f.Status.CurrentState, f.Status.UUID, nodeDown(f.Status.Conditions), machine.NotStarted(f.Status.Conditions),
		f.Status.TargetIP, f.Status.TargetPort,
		f.Status.SwitchoverPhase, f.Status.Switchover.OldTargetClosed, f.Status.SuspendedAt}
}

func replicaFacts(obj client.Object) any {
	r := obj.(*v1beta2.Replica)
	return []any{r.Spec, r.Status.CurrentState, r.Status.StorageIP, r.Status.Port, r.Status.UUID, nodeDown(r.Status.Conditions),
		machine.NotStarted(r.Status.Conditions)}
}

// nodeDown is the relevant part of an instance's conditions.
func nodeDown(list []v1beta2.Condition) bool {
	return conditions.IsTrue(list, v1beta2.InstanceNodeDown)
}

func nodeFacts(obj client.Object) any { return nodeOf(obj.(*v1beta2.Node)) }

func nodeOf(n *v1beta2.Node) machine.Node {
	return machine.Node{Known: true, Down: v1beta2.IsNodeDown(n), Upgrading: n.Spec.UpgradeRequested}
}

func backupVolumeFacts(obj client.Object) any {
	b := obj.(*v1beta2.BackupVolume)
	return []any{b.Spec.VolumeName, b.Spec.BackupTargetName, b.Status.LastBackupName, b.Status.LastBackupAt, b.Status.Size, b.Status.Labels}
}

// snapshotFacts are the fields of a Snapshot for which the copy of its volume waits.
func snapshotFacts(obj client.Object) any {
	s := obj.(*v1beta2.Snapshot)
	ready := conditions.Get(s.Status.Conditions, v1beta2.SnapshotReady)
	if ready == nil {
		return s.Status.ReadyToUse
	}
	return []any{s.Status.ReadyToUse, ready.Status, ready.Message}
}

// snapshotsOf is how many snapshots an engine lists: a copy may wait for one more.
func snapshotsOf(obj client.Object) any { return len(obj.(*v1beta2.Engine).Status.Snapshots) }

// existence passes only creation, deletion and the deletion timestamp.
func existence(client.Object) any { return nil }
