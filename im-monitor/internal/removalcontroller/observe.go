package removalcontroller

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// observe reads what there is to know about a Replica. That a Node does not exist is never a cache's word.
func (r *reconciler) observe(ctx context.Context, reader client.Reader, replica *v1beta2.Replica, known attempt) (removal.World, error) {
	w := removal.World{Replica: replicaOf(replica), FencingDelayEnds: r.fencingDelayEnds(), Called: known.call != nil,
		Failure: known.failure}
	if !removal.Wanted(w.Replica) {
		return w, nil
	}
	node, err := lookup.Shared(ctx, reader, r.rt.Namespace, replica.Spec.NodeID, &v1beta2.Node{})
	if err == nil && node == nil && reader != r.rt.Uncached {
		node, err = lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, replica.Spec.NodeID, &v1beta2.Node{})
	}
	if err != nil {
		return w, err
	}
	if node != nil {
		w.Node = &removal.Node{Down: v1beta2.IsNodeDown(node)}
	}
	for _, im := range r.store.OfNode(replica.Spec.NodeID) {
		if target, ok := r.store.Target(im); ok && target.DataEngine == dataEngine(replica) {
			w.Places = append(w.Places, r.place(im, replica, known))
		}
	}
	w.Now = r.rt.Clock.Now()
	return w, nil
}

// place is what the newest whole list of an instance manager reports about a name.
func (r *reconciler) place(im string, replica *v1beta2.Replica, known attempt) removal.Place {
	name := replica.Name
	out := removal.Place{InstanceManager: im}
	snapshot, ok := r.store.Latest(im)
	if !ok {
		return out
	}
	out.Known = true
	if i, listed := snapshot.Instances.Find(name); listed {
		out.Instance = &removal.Instance{Type: i.Type, State: i.State, UUID: i.UUID, Disk: i.DiskUUID}
		out.Duplicate = inventory.AlsoListedBy(r.store, im, i)
		return out
	}
	if known.call != nil && known.call.InstanceManager == im && r.store.AbsentAfter(*known.call) {
		out.Absent = true
		return out
	}
	out.Absent = r.store.Absent(subject(im, replica, known))
	if !out.Absent {
		out.Unloaded = r.store.Unloaded(im, replica.Spec.DiskID)
	}
	return out
}

// subject is the replica whose absence is asked for since its removal began.
func subject(im string, replica *v1beta2.Replica, known attempt) inventory.Subject {
	return inventory.Subject{InstanceManager: im, Name: replica.Name, Type: v1beta2.InstanceTypeReplica, DiskUUID: replica.Spec.DiskID,
		Since: known.began}
}

func replicaOf(o *v1beta2.Replica) removal.Replica {
	out := removal.Replica{
		Name: o.Name, Volume: o.Spec.VolumeName, VolumeUID: engine.VolumeUID(o.OwnerReferences, o.Spec.VolumeName), DataEngine: o.Spec.DataEngine,
		Node: o.Spec.NodeID, Disk: o.Spec.DiskID, Current: o.Status.CurrentState, Begun: o.Status.Starting || o.Status.Started,
		Deleting: o.DeletionTimestamp != nil, Said: conditions.Get(o.Status.Conditions, conditionType(o)),
		Generation: o.Generation, WantsToRun: o.Spec.DesireState == v1beta2.InstanceStateRunning,
	}
	if conditions.IsTrue(o.Status.Conditions, v1beta2.ReplicaDataRemovalApproved) {
		out.Approval = conditions.Reason(o.Status.Conditions, v1beta2.ReplicaDataRemovalApproved)
	}
	return out
}

// conditionType returns the condition that this controller writes for a replica.
func conditionType(r *v1beta2.Replica) string {
	if r.Spec.DataEngine == v1beta2.DataEngineV2 {
		return v1beta2.ReplicaDataRemoved
	}
	return v1beta2.ReplicaInstanceGone
}

func dataEngine(r *v1beta2.Replica) string { return cmp.Or(r.Spec.DataEngine, v1beta2.DataEngineV1) }
