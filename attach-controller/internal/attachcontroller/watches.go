package attachcontroller

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// watches maps the events of other objects to their volumes.
type watches struct {
	reader    client.Reader
	namespace string
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (w watches) add(b *builder.Builder) *builder.Builder {
	own := func(_ context.Context, obj client.Object) []string { return []string{obj.GetName()} }
	moving := func(v attach.Volume) bool { return v.Migrating() }
	local := func(v attach.Volume) bool { return v.StrictLocal }
	return b.
		Watches(&v1beta2.VolumeAttachment{}, w.to(own), builder.WithPredicates(predicate.Or(changed(attachmentFacts), answersChanged))).
		Watches(&v1beta2.Node{}, w.to(w.onNode), builder.WithPredicates(changed(nodeFacts))).
		Watches(&v1beta2.Engine{}, w.to(w.of(moving)), builder.WithPredicates(changed(engineFacts))).
		Watches(&v1beta2.EngineFrontend{}, w.to(w.of(moving)), builder.WithPredicates(changed(frontendFacts))).
		Watches(&v1beta2.Replica{}, w.to(w.of(local)), builder.WithPredicates(changed(replicaFacts)))
}

// changed filters updates for changed facts.
func changed[F comparable](facts func(client.Object) F) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() || facts(e.ObjectOld) != facts(e.ObjectNew)
	}}
}

func volumeFacts(obj client.Object) attach.Volume { return attach.VolumeOf(obj.(*v1beta2.Volume)) }

type ofAttachments struct {
	generation    int64
	going, marked bool
}

// attachmentFacts: the generation stands for the tickets; the answers are our own writes.
func attachmentFacts(obj client.Object) ofAttachments {
	a := obj.(*v1beta2.VolumeAttachment)
	return ofAttachments{a.Generation, a.DeletionTimestamp != nil, len(missing(a, nil)) == 0}
}

// answersChanged passes updates that change whether a ticket is satisfied, whoever wrote them. A decision that was taken before the cache
// showed a raised answer had nothing to lower; and a leader that had lost its lease may have written a wrong answer. The volume is
// evaluated again.
var answersChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1beta2.VolumeAttachment).Status, e.ObjectNew.(*v1beta2.VolumeAttachment).Status
	return !maps.EqualFunc(before.AttachmentTicketStatuses, after.AttachmentTicketStatuses, func(a, b v1beta2.AttachmentTicketStatus) bool {
		return a.Satisfied == b.Satisfied && a.Generation == b.Generation
	})
}}

func nodeFacts(obj client.Object) attach.Node { return attach.NodeOf(obj.(*v1beta2.Node)) }

func engineFacts(obj client.Object) attach.Engine { return attach.EngineOf(obj.(*v1beta2.Engine)) }

func frontendFacts(obj client.Object) attach.Frontend {
	return attach.FrontendOf(obj.(*v1beta2.EngineFrontend))
}

type ofReplicas struct {
	node          string
	failed, going bool
}

func replicaFacts(obj client.Object) ofReplicas {
	r := obj.(*v1beta2.Replica)
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != "", r.DeletionTimestamp != nil}
}

func (w watches) to(find func(context.Context, client.Object) []string) handler.EventHandler {
	enqueue := func(ctx context.Context, obj client.Object, q queue) {
		for _, name := range find(ctx, obj) {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { enqueue(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(ctx, e.Object, q) },
	}
}

// onNode finds the volumes that are on a node, or have a ticket for it; no others are enqueued.
func (w watches) onNode(ctx context.Context, node client.Object) []string {
	at := client.MatchingFields{byNode: node.GetName()}
	var volumes v1beta2.VolumeList
	var attachments v1beta2.VolumeAttachmentList
	var out []string
	if w.list(ctx, &volumes, at) {
		for i := range volumes.Items {
			out = append(out, volumes.Items[i].Name)
		}
	}
	if w.list(ctx, &attachments, at) {
		for i := range attachments.Items {
			out = append(out, attachments.Items[i].Name)
		}
	}
	return keys(out...)
}

// list fills a list from the cache; its items must not be changed.
func (w watches) list(ctx context.Context, into client.ObjectList, at client.MatchingFields) bool {
	err := w.reader.List(ctx, into, client.InNamespace(w.namespace), at, client.UnsafeDisableDeepCopy)
	if err != nil {
		log.FromContext(ctx).Error(err, "finding the volumes of a node")
	}
	return err == nil
}

// of finds the volume of an engine, frontend or replica if such objects matter to it.
func (w watches) of(matters func(attach.Volume) bool) func(context.Context, client.Object) []string {
	return func(ctx context.Context, obj client.Object) []string {
		volume, err := lookup.Get(ctx, w.reader, w.namespace, v1beta2.VolumeNameOf(obj), &v1beta2.Volume{})
		if err != nil {
			log.FromContext(ctx).Error(err, "finding the volume of an object", "name", obj.GetName())
		}
		if volume == nil || !matters(attach.VolumeOf(volume)) {
			return nil
		}
		return []string{volume.Name}
	}
}
