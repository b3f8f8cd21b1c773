package attachcontroller

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// watches maps the events of other objects to their volumes.
type watches struct{ kube.Mapper }

func (w watches) add(b *builder.Builder) *builder.Builder {
	own := func(_ context.Context, obj client.Object) []string { return []string{obj.GetName()} }
	moving := func(v attach.Volume) bool { return v.Migrating() }
	local := func(v attach.Volume) bool { return v.StrictLocal }
	return b.
		Watches(&v1beta2.VolumeAttachment{}, w.to(own), builder.WithPredicates(predicate.Or(kube.OnChange(attachmentFacts), answersChanged))).
		Watches(&v1beta2.Node{}, w.to(w.onNode), builder.WithPredicates(kube.OnChange(attach.NodeOf))).
		Watches(&v1beta2.Engine{}, w.to(w.of(moving)), builder.WithPredicates(kube.OnChange(attach.EngineOf))).
		Watches(&v1beta2.EngineFrontend{}, w.to(w.of(moving)), builder.WithPredicates(kube.OnChange(attach.FrontendOf))).
		Watches(&v1beta2.Replica{}, w.to(w.of(local)), builder.WithPredicates(kube.OnChange(replicaFacts)))
}

type ofAttachments struct {
	generation int64
	marked     bool
}

// attachmentFacts: the generation stands for the tickets; the answers are our own writes.
func attachmentFacts(a *v1beta2.VolumeAttachment) ofAttachments {
	return ofAttachments{a.Generation, len(missing(a, nil)) == 0}
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

type ofReplicas struct {
	node   string
	failed bool
}

func replicaFacts(r *v1beta2.Replica) ofReplicas {
	return ofReplicas{r.Spec.NodeID, r.Spec.FailedAt != ""}
}

// to enqueues the volumes that find returns; of an update only the new object is mapped.
func (w watches) to(find func(context.Context, client.Object) []string) handler.EventHandler {
	enqueue := func(ctx context.Context, obj client.Object, q kube.Queue) { w.Enqueue(q, find(ctx, obj)...) }
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) { enqueue(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) { enqueue(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) { enqueue(ctx, e.Object, q) },
	}
}

// onNode finds the volumes that are on a node, or have a ticket for it; no others are enqueued.
func (w watches) onNode(ctx context.Context, node client.Object) []string {
	at := client.MatchingFields{byNode: node.GetName()}
	return distinct(append(w.Names(ctx, &v1beta2.VolumeList{}, at), w.Names(ctx, &v1beta2.VolumeAttachmentList{}, at)...)...)
}

// of finds the volume of an engine, frontend or replica if such objects matter to it.
func (w watches) of(matters func(attach.Volume) bool) func(context.Context, client.Object) []string {
	return func(ctx context.Context, obj client.Object) []string {
		volume, err := lookup.Get(ctx, w.Reader, w.Namespace, v1beta2.VolumeNameOf(obj), &v1beta2.Volume{})
		if err != nil {
			log.FromContext(ctx).Error(err, "finding the volume of an object", "name", obj.GetName())
		}
		if volume == nil || !matters(attach.VolumeOf(volume)) {
			return nil
		}
		return []string{volume.Name}
	}
}
