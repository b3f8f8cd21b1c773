package replicacontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/settingcontroller"
)

// watches maps the events of other objects to their volumes.
type watches struct {
	kube.Mapper
	reservations *reservations
	waiting      *waitlist
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Engine{}, w.To(func(_ context.Context, obj client.Object) []string { return []string{kube.VolumeName(obj)} }),
			builder.WithPredicates(kube.OnDeepChange(engineFacts))).
		Watches(&v1beta2.Replica{}, w.replicas()).
		Watches(&v1beta2.Node{}, w.To(func(ctx context.Context, obj client.Object) []string { return w.onNode(ctx, obj.GetName()) }),
			builder.WithPredicates(kube.OnDeepChange(nodeFacts))).
		Watches(&v1beta2.Node{}, w.To(func(ctx context.Context, obj client.Object) []string { return w.lacking(ctx, obj.GetName()) }),
			builder.WithPredicates(hasMoreRoom)).
		Watches(&v1beta2.InstanceManager{}, w.To(func(ctx context.Context, obj client.Object) []string {
			return w.onNode(ctx, obj.(*v1beta2.InstanceManager).Spec.NodeID)
		}), builder.WithPredicates(kube.OnChange(managerFacts))).
		// A node that gets an engine image may take a replica that lacks a place.
		Watches(&v1beta2.EngineImage{}, w.To(func(ctx context.Context, _ client.Object) []string { return w.lacking(ctx, "") }),
			builder.WithPredicates(kube.OnDeepChange(imageFacts))).
		Watches(&v1beta2.VolumeAttachment{}, w.To(w.onTickets),
			builder.WithPredicates(kube.OnChange(func(a *v1beta2.VolumeAttachment) int64 { return a.Generation }))).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, upgrade.Enqueue(w.Namespace, w.onNode)).
		Watches(&v1beta2.Setting{}, w.To(w.all), builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

// replicas updates the reservations on every change; it enqueues the volume only on a relevant one.
func (w watches) replicas() handler.EventHandler {
	matters := kube.OnDeepChange(replicaFacts)
	see := func(ctx context.Context, q kube.Queue, r *v1beta2.Replica) {
		freed := w.reservations.see(r)
		if freed.slot {
			w.Enqueue(q, w.waiting.first(r.Spec.NodeID))
		}
		if freed.room {
			w.Enqueue(q, w.lacking(ctx, r.Spec.NodeID)...)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			r := e.Object.(*v1beta2.Replica)
			see(ctx, q, r)
			w.Enqueue(q, r.Spec.VolumeName)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			r := e.ObjectNew.(*v1beta2.Replica)
			see(ctx, q, r)
			if matters.Update(e) {
				w.Enqueue(q, r.Spec.VolumeName)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
			r := e.Object.(*v1beta2.Replica)
			w.Enqueue(q, w.waiting.first(w.reservations.forget(r.Name)))
			w.Enqueue(q, r.Spec.VolumeName)
			w.Enqueue(q, w.lacking(ctx, r.Spec.NodeID)...) // it freed space on its disk
		},
	}
}

// onNode returns the volumes that have a replica on the node, that want their target there, or that lack a place.
func (w watches) onNode(ctx context.Context, node string) []string {
	on := w.NamesBy(ctx, kube.VolumeName, &v1beta2.ReplicaList{}, client.MatchingFields{kube.FieldNode: node})
	on = append(on, w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{byTarget: node})...)
	return append(on, w.lacking(ctx, node)...)
}

// lacking are the volumes that lack a place, and those that may want one on this node.
func (w watches) lacking(ctx context.Context, node string) []string {
	lack := w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{byTrouble: kube.Yes})
	return append(lack, w.Names(ctx, &v1beta2.VolumeList{}, client.MatchingFields{byLocality: node})...)
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	return w.Names(ctx, &v1beta2.VolumeList{})
}
