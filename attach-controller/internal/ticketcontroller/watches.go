package ticketcontroller

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// watches maps the events of other objects to their volumes.
type watches struct{ kube.Mapper }

func (w watches) add(b *builder.Builder) *builder.Builder {
	of := func(volume func(client.Object) string) handler.EventHandler {
		return w.To(func(_ context.Context, obj client.Object) []string { return []string{volume(obj)} })
	}
	name, volume := client.Object.GetName, kube.VolumeName
	b = b.
		Watches(&v1beta2.VolumeAttachment{}, of(name), builder.WithPredicates(kube.OnChange(attachmentFacts))).
		Watches(&v1beta2.Engine{}, of(volume), builder.WithPredicates(kube.OnChange(engineFacts))).
		Watches(&v1beta2.Replica{}, of(volume), builder.WithPredicates(kube.OnChange(replicaFacts))).
		Watches(&v1beta2.ShareManager{}, of(name), builder.WithPredicates(kube.OnChange(shareFacts))).
		Watches(&v1beta2.BackingImageDataSource{}, of(func(obj client.Object) string {
			return ticket.ExportedVolume(obj.(*v1beta2.BackingImageDataSource))
		})).
		Watches(&v1beta2.Volume{}, of(func(obj client.Object) string { return ticket.SourceOf(obj.(*v1beta2.Volume)) })).
		Watches(&v1beta2.Node{}, handler.Funcs{CreateFunc: w.nodeCame, UpdateFunc: w.nodeChanged, DeleteFunc: w.nodeGone}).
		Watches(&v1beta2.Setting{}, w.To(w.all), builder.WithPredicates(ofOurs()))
	for _, kind := range ticket.OwnerKinds {
		obj, _ := ownerObject(kind)
		b = b.Watches(obj, w.To(w.owned(kind)), builder.WithPredicates(kube.OnEnd()))
	}
	return b
}

// ofOurs passes the settings that this controller applies.
func ofOurs() predicate.Predicate {
	names := []string{setting.AutoSalvage, setting.DetachWhenCordoned, setting.OfflineRebuilding}
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return slices.Contains(names, obj.GetName()) })
}

// owned finds the volumes with a ticket that ends with the object.
func (w watches) owned(kind string) func(context.Context, client.Object) []string {
	return func(ctx context.Context, obj client.Object) []string {
		return w.attachments(ctx, byOwner, ownerKey(kind, obj.GetName()))
	}
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	return w.Names(ctx, &v1beta2.VolumeAttachmentList{})
}

// nodeCame: background work may be placed on a new node.
func (w watches) nodeCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	w.Enqueue(q, w.placed(ctx, e.Object.GetName())...)
	w.Enqueue(q, w.stored(ctx, e.Object.GetName())...)
}

func (w watches) nodeGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.Enqueue(q, w.placed(ctx, e.Object.GetName())...)
	w.Enqueue(q, w.stored(ctx, e.Object.GetName())...)
}

func (w watches) nodeChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.Node), e.ObjectNew.(*v1beta2.Node)
	if kube.Changed(placeFacts, before, after) {
		w.Enqueue(q, w.placed(ctx, after.Name)...)
	}
	closing := func(n *v1beta2.Node) bool { return n.Spec.UpgradeRequested }
	if kube.Changed(evictionFacts, before, after) || kube.Changed(closing, before, after) || kube.Changed(v1beta2.IsNodeDown, before, after) {
		w.Enqueue(q, w.stored(ctx, after.Name)...)
	}
}

// placed are the volumes with a ticket for the node, or for none.
func (w watches) placed(ctx context.Context, node string) []string {
	return append(w.attachments(ctx, byTicketNode, node), w.attachments(ctx, byTicketNode, noNode)...)
}

// stored are the volumes with a replica on the node.
func (w watches) stored(ctx context.Context, node string) []string {
	return w.NamesBy(ctx, kube.VolumeName, &v1beta2.ReplicaList{}, client.MatchingFields{kube.FieldNode: node})
}

func (w watches) attachments(ctx context.Context, index, key string) []string {
	return w.Names(ctx, &v1beta2.VolumeAttachmentList{}, client.MatchingFields{index: key})
}
