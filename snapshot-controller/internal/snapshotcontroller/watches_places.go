package snapshotcontroller

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

func (w watches) attachmentCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.GetName())
	}
}

// attachmentChanged: a ticket, and its answer, matter to the snapshot that it is for.
func (w watches) attachmentChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.VolumeAttachment), e.ObjectNew.(*v1beta2.VolumeAttachment)
	if before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) {
		w.volume(ctx, q, byBusy, after.Name)
		return
	}
	for id, t := range before.Spec.AttachmentTickets {
		if !sameTicket(before, after, id) {
			w.Enqueue(q, t.Parameters[v1beta2.TicketOwnerName])
		}
	}
	for id, t := range after.Spec.AttachmentTickets {
		if !sameTicket(before, after, id) {
			w.Enqueue(q, t.Parameters[v1beta2.TicketOwnerName])
		}
	}
}

func sameTicket(before, after *v1beta2.VolumeAttachment, id string) bool {
	return reflect.DeepEqual(before.Spec.AttachmentTickets[id], after.Spec.AttachmentTickets[id]) &&
		reflect.DeepEqual(before.Status.AttachmentTicketStatuses[id], after.Status.AttachmentTicketStatuses[id])
}

func (w watches) replicaCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Replica).Spec.VolumeName)
	}
}

func (w watches) replicaGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Replica).Spec.VolumeName)
}

func (w watches) replicaChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	if after := e.ObjectNew.(*v1beta2.Replica); kube.Changed(replicaFacts, e.ObjectOld.(*v1beta2.Replica), after) {
		w.volume(ctx, q, byBusy, after.Spec.VolumeName)
	}
}

type ofReplicas struct {
	node                    string
	failed, healthy, second bool
}

func replicaFacts(r *v1beta2.Replica) ofReplicas {
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != "", r.Spec.HealthyAt != "", v1beta2.IsSecondProcess(r)}
}

// backupChanged: that it begins to need its snapshot, or does so no longer, matters to one that is to go.
func (w watches) backupChanged(_ context.Context, e event.UpdateEvent, q kube.Queue) {
	was, is := volumecontext.Copied(e.ObjectOld.(*v1beta2.Backup)), volumecontext.Copied(e.ObjectNew.(*v1beta2.Backup))
	if was != is {
		w.Enqueue(q, cmp.Or(was, is))
	}
}

func (w watches) backupGone(_ context.Context, e event.DeleteEvent, q kube.Queue) {
	w.Enqueue(q, volumecontext.Copied(e.Object.(*v1beta2.Backup)))
}

func (w watches) nodeCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	if !e.IsInInitialList {
		w.node(ctx, q, e.Object.GetName())
	}
}

func (w watches) nodeGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.node(ctx, q, e.Object.GetName())
}

func (w watches) nodeChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
	if snapshot.CanAttach(before) != snapshot.CanAttach(after) || v1beta2.IsNodeDown(before) != v1beta2.IsNodeDown(after) ||
		before.Spec.UpgradeRequested != after.Spec.UpgradeRequested {
		w.node(ctx, q, after.Name)
	}
}

// node enqueues what is under way on volumes that have their engine, or a replica, on the node.
func (w watches) node(ctx context.Context, q kube.Queue, name string) {
	on := client.MatchingFields{kube.FieldNode: name}
	volumes := append(w.NamesBy(ctx, kube.VolumeName, &v1beta2.EngineList{}, on),
		w.NamesBy(ctx, kube.VolumeName, &v1beta2.ReplicaList{}, on)...)
	slices.Sort(volumes)
	for _, volume := range slices.Compact(volumes) {
		w.volume(ctx, q, byBusy, volume)
	}
}
