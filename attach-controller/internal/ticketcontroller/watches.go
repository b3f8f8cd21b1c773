package ticketcontroller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
)

// watches maps the events of other objects to their volumes.
type watches struct {
	reader    client.Reader
	namespace string
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (w watches) add(b *builder.Builder) *builder.Builder {
	of := func(volume func(client.Object) string) handler.EventHandler {
		return w.to(func(_ context.Context, obj client.Object) []string { return keys(volume(obj)) })
	}
	name := func(obj client.Object) string { return obj.GetName() }
	b = b.
		Watches(&v1beta2.VolumeAttachment{}, of(name), builder.WithPredicates(changed(attachmentFacts))).
		Watches(&v1beta2.Engine{}, of(func(obj client.Object) string { return obj.(*v1beta2.Engine).Spec.VolumeName }),
			builder.WithPredicates(changed(engineFacts))).
		Watches(&v1beta2.Replica{}, of(func(obj client.Object) string { return obj.(*v1beta2.Replica).Spec.VolumeName }),
			builder.WithPredicates(changed(replicaFacts))).
		Watches(&v1beta2.ShareManager{}, of(name), builder.WithPredicates(changed(shareFacts))).
		Watches(&v1beta2.BackingImageDataSource{}, of(func(obj client.Object) string {
			return ticket.ExportedVolume(obj.(*v1beta2.BackingImageDataSource))
		})).
		Watches(&v1beta2.Volume{}, of(func(obj client.Object) string { return ticket.SourceOf(obj.(*v1beta2.Volume)) })).
		Watches(&v1beta2.Node{}, handler.Funcs{CreateFunc: w.nodeCame, UpdateFunc: w.nodeChanged, DeleteFunc: w.nodeGone}).
		Watches(&v1beta2.Setting{}, w.to(w.all), builder.WithPredicates(ofOurs()))
	for _, kind := range ticket.OwnerKinds {
		obj, _ := ownerObject(kind)
		b = b.Watches(obj, w.to(w.owned(kind)), builder.WithPredicates(leaving()))
	}
	return b
}

// leaving passes only the end of an object.
func leaving() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ofOurs passes the settings that this controller applies.
func ofOurs() predicate.Predicate {
	names := []string{setting.AutoSalvage, setting.DetachWhenCordoned, setting.OfflineRebuilding}
	return predicate.NewPredicateFuncs(func(obj client.Object) bool { return slices.Contains(names, obj.GetName()) })
}

func (w watches) to(find func(context.Context, client.Object) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, name := range find(ctx, obj) {
			requests = append(requests, w.request(name))
		}
		return requests
	})
}

func (w watches) request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}}
}

// owned finds the volumes with a ticket that ends with the object.
func (w watches) owned(kind string) func(context.Context, client.Object) []string {
	return func(ctx context.Context, obj client.Object) []string {
		return w.attachments(ctx, byOwner, ownerKey(kind, obj.GetName()))
	}
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	var list v1beta2.VolumeAttachmentList
	return w.names(ctx, &list, func() []string { return namesOf(list.Items) })
}

// nodeCame: background work may be placed on a new node.
func (w watches) nodeCame(ctx context.Context, e event.CreateEvent, q queue) {
	w.enqueue(q, w.placed(ctx, e.Object.GetName()))
	w.enqueue(q, w.stored(ctx, e.Object.GetName()))
}

func (w watches) nodeGone(ctx context.Context, e event.DeleteEvent, q queue) {
	w.enqueue(q, w.placed(ctx, e.Object.GetName()))
	w.enqueue(q, w.stored(ctx, e.Object.GetName()))
}

func (w watches) nodeChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	if differ(placeFacts, e.ObjectOld, e.ObjectNew) {
		w.enqueue(q, w.placed(ctx, e.ObjectNew.GetName()))
	}
	closing := func(obj client.Object) bool { return placeFacts(obj).upgrading }
	if differ(evictionFacts, e.ObjectOld, e.ObjectNew) || differ(closing, e.ObjectOld, e.ObjectNew) {
		w.enqueue(q, w.stored(ctx, e.ObjectNew.GetName()))
	}
}

// placed are the volumes with a ticket for the node, or for none.
func (w watches) placed(ctx context.Context, node string) []string {
	return append(w.attachments(ctx, byNode, node), w.attachments(ctx, byNode, noNode)...)
}

// stored are the volumes with a replica on the node.
func (w watches) stored(ctx context.Context, node string) []string {
	var list v1beta2.ReplicaList
	return w.names(ctx, &list, func() []string {
		var out []string
		for i := range list.Items {
			out = append(out, list.Items[i].Spec.VolumeName)
		}
		return out
	}, client.MatchingFields{byNode: node})
}

func (w watches) attachments(ctx context.Context, index, key string) []string {
	var list v1beta2.VolumeAttachmentList
	return w.names(ctx, &list, func() []string { return namesOf(list.Items) }, client.MatchingFields{index: key})
}

func namesOf(list []v1beta2.VolumeAttachment) []string {
	out := make([]string, 0, len(list))
	for i := range list {
		out = append(out, list[i].Name)
	}
	return out
}

func (w watches) names(ctx context.Context, list client.ObjectList, names func() []string, which ...client.ListOption) []string {
	if err := w.reader.List(ctx, list, append(which, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
	return names()
}

func (w watches) enqueue(q queue, volumes []string) {
	for _, name := range volumes {
		q.Add(w.request(name))
	}
}
