package replicacontroller

import (
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/replica"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func volumeFacts(v *v1beta2.Volume) []any {
	return []any{v.Spec, v.Finalizers, v.Status.State, v.Status.CurrentNodeID, v.Status.CurrentMigrationNodeID,
		v.Status.CurrentTargetNodeID, v.Status.Robustness,
		v.Status.RestoreRequired, v.Status.RebuildFailures, v.Status.CloneStatus.State, v.Status.AcceptedSize, v1beta2.EverAttached(v),
		conditions.IsFalse(v.Status.Conditions, v1beta2.VolumeScheduled)} // the index byTrouble has it from then on, not before
}

func engineFacts(e *v1beta2.Engine) []any {
	return []any{e.Spec.Active, e.Spec.NodeID, e.Spec.DesireState, e.Spec.ReplicaAddressMap, e.Spec.LookRequestedAt,
		e.Status.CurrentState, e.Status.ReplicaModeMap, e.Status.LookedAt, e.Status.IsExpanding,
		v1beta2.IsCloning(e.Status.CloneStatus), replica.EngineHolds(e),
		conditions.IsTrue(e.Status.Conditions, v1beta2.InstanceNodeDown)}
}

func replicaFacts(r *v1beta2.Replica) []any {
	return []any{r.Spec, r.Status.CurrentState, r.Status.Conditions}
}

func nodeFacts(n *v1beta2.Node) []any {
	disks := map[string]any{}
	for key, d := range n.Status.DiskStatus {
		disks[key] = []any{d.DiskUUID, d.DiskPath, conditions.IsTrue(d.Conditions, v1beta2.DiskReady),
			conditions.IsTrue(d.Conditions, v1beta2.DiskSchedulable), d.StorageMaximum}
	}
	ready := conditions.Get(n.Status.Conditions, v1beta2.NodeReady)
	var readiness any
	if ready != nil {
		readiness = []any{ready.Status, ready.Reason}
	}
	unschedulable := conditions.IsFalse(n.Status.Conditions, v1beta2.NodeSchedulable)
	return []any{n.Spec, n.Status.Zone, n.Status.AutoEvicting, readiness, unschedulable, disks}
}

// hasMoreRoom passes only updates of a node that raise the available space of a disk.
var hasMoreRoom = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	DeleteFunc: func(event.DeleteEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before := e.ObjectOld.(*v1beta2.Node).Status.DiskStatus
		for key, now := range e.ObjectNew.(*v1beta2.Node).Status.DiskStatus {
			if now.StorageAvailable > before[key].StorageAvailable {
				return true
			}
		}
		return false
	},
}

func imageFacts(i *v1beta2.EngineImage) map[string]bool { return i.Status.NodeDeploymentMap }

func managerFacts(m *v1beta2.InstanceManager) string { return m.Status.CurrentState }
