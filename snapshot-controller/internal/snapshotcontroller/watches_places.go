package snapshotcontroller

import (
	"cmp"
	"context"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

func (w watches) attachmentCame(ctx context.Context, e event.CreateEvent, q queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.GetName())
	}
}

// attachmentChanged: a ticket, and its answer, matter to the snapshot that it is for.
func (w watches) attachmentChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	before, after := e.ObjectOld.(*v1beta2.VolumeAttachment), e.ObjectNew.(*v1beta2.VolumeAttachment)
	if before.UID != after.UID || (before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) {
		w.volume(ctx, q, byBusy, after.Name)
		return
	}
	for id, t := range before.Spec.AttachmentTickets {
		if !sameTicket(before, after, id) {
			q.Add(w.request(t.Parameters[v1beta2.TicketOwnerName]))
		}
	}
	for id, t := range after.Spec.AttachmentTickets {
		if !sameTicket(before, after, id) {
			q.Add(w.request(t.Parameters[v1beta2.TicketOwnerName]))
		}
	}
}

func sameTicket(before, after *v1beta2.VolumeAttachment, id string) bool {
	return reflect.DeepEqual(before.Spec.AttachmentTickets[id], after.Spec.AttachmentTickets[id]) &&
		reflect.DeepEqual(before.Status.AttachmentTicketStatuses[id], after.Status.AttachmentTicketStatuses[id])
}

func (w watches) replicaCame(ctx context.Context, e event.CreateEvent, q queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Replica).Spec.VolumeName)
	}
}

func (w watches) replicaGone(ctx context.Context, e event.DeleteEvent, q queue) {
	w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Replica).Spec.VolumeName)
}

func (w watches) replicaChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	if was, is := replicaFacts(e.ObjectOld), replicaFacts(e.ObjectNew); was != is {
		w.volume(ctx, q, byBusy, e.ObjectNew.(*v1beta2.Replica).Spec.VolumeName)
	}
}

type ofReplicas struct {
	node                   string
	failed, healthy, going bool
}

func replicaFacts(obj client.Object) ofReplicas {
	r := obj.(*v1beta2.Replica)
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != "", r.Spec.HealthyAt != "", r.DeletionTimestamp != nil}
}

// backupChanged: that it begins to need its snapshot, or does so no longer, matters to one that is to go.
func (w watches) backupChanged(_ context.Context, e event.UpdateEvent, q queue) {
	was, is := volumecontext.Copied(e.ObjectOld.(*v1beta2.Backup)), volumecontext.Copied(e.ObjectNew.(*v1beta2.Backup))
	if was != is {
		q.Add(w.request(cmp.Or(was, is)))
	}
}

func (w watches) backupGone(_ context.Context, e event.DeleteEvent, q queue) {
	if name := volumecontext.Copied(e.Object.(*v1beta2.Backup)); name != "" {
		q.Add(w.request(name))
	}
}

func (w watches) nodeCame(ctx context.Context, e event.CreateEvent, q queue) {
	if !e.IsInInitialList {
		w.node(ctx, q, e.Object.GetName())
	}
}

func (w watches) nodeGone(ctx context.Context, e event.DeleteEvent, q queue) {
	w.node(ctx, q, e.Object.GetName())
}

func (w watches) nodeChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
	if snapshot.CanAttach(before) != snapshot.CanAttach(after) || v1beta2.IsNodeDown(before) != v1beta2.IsNodeDown(after) ||
		before.Spec.UpgradeRequested != after.Spec.UpgradeRequested {
		w.node(ctx, q, after.Name)
	}
}

// node enqueues what is under way on volumes that have their engine, or a replica, on the node.
func (w watches) node(ctx context.Context, q queue, name string) {
	volumes := map[string]bool{}
	var engines v1beta2.EngineList
	w.on(ctx, &engines, name)
	for i := range engines.Items {
		volumes[engines.Items[i].Spec.VolumeName] = true
	}
	var replicas v1beta2.ReplicaList
	w.on(ctx, &replicas, name)
	for i := range replicas.Items {
		volumes[replicas.Items[i].Spec.VolumeName] = true
	}
	for volume := range volumes {
		w.volume(ctx, q, byBusy, volume)
	}
}

func (w watches) on(ctx context.Context, list client.ObjectList, node string) {
	err := w.reader.List(ctx, list, client.InNamespace(w.namespace), client.MatchingFields{byNode: node}, client.UnsafeDisableDeepCopy)
	if err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
}
