package replicacontroller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/settingcontroller"
)

// watches maps the events of other objects to their volumes.
type watches struct {
	reader       client.Reader
	namespace    string
	reservations *reservations
	waiting      *waitlist
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Engine{}, w.to(func(_ context.Context,
			obj client.Object) []string {
			return key(obj.(*v1beta2.Engine).Spec.VolumeName)
		}), builder.WithPredicates(changed(engineFacts))).
		Watches(&v1beta2.Replica{}, w.replicas()).
		Watches(&v1beta2.Node{}, w.to(func(ctx context.Context, obj client.Object) []string { return w.onNode(ctx, obj.GetName()) }),
			builder.WithPredicates(changed(nodeFacts))).
		Watches(&v1beta2.Node{}, w.to(func(ctx context.Context, _ client.Object) []string { return w.lacking(ctx) }),
			builder.WithPredicates(hasMoreRoom)).
		Watches(&v1beta2.InstanceManager{}, w.to(func(ctx context.Context, obj client.Object) []string {
			return w.onNode(ctx, obj.(*v1beta2.InstanceManager).Spec.NodeID)
		}), builder.WithPredicates(changed(managerFacts))).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, upgrade.Enqueue(w.namespace, w.onNode)).
		Watches(&v1beta2.Setting{}, w.to(w.all), builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// replicas updates the reservations on every change; it enqueues the volume only on a relevant one.
func (w watches) replicas() handler.EventHandler {
	matters := changed(replicaFacts)
	push := func(q queue, volume string) {
		if volume != "" {
			q.Add(w.request(volume))
		}
	}
	see := func(q queue, r *v1beta2.Replica) {
		if w.reservations.see(r) {
			push(q, w.waiting.first(r.Spec.NodeID))
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			r := e.Object.(*v1beta2.Replica)
			see(q, r)
			push(q, r.Spec.VolumeName)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			r := e.ObjectNew.(*v1beta2.Replica)
			see(q, r)
			if matters.Update(e) {
				push(q, r.Spec.VolumeName)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			r := e.Object.(*v1beta2.Replica)
			if w.reservations.forget(r.Name) {
				push(q, w.waiting.first(r.Spec.NodeID))
			}
			push(q, r.Spec.VolumeName)
			for _, volume := range w.lacking(ctx) { // it freed space on its disk
				push(q, volume)
			}
		},
	}
}

func (w watches) to(find func(context.Context, client.Object) []string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		seen := map[string]bool{}
		var requests []reconcile.Request
		for _, name := range find(ctx, obj) {
			if !seen[name] && name != "" {
				seen[name] = true
				requests = append(requests, w.request(name))
			}
		}
		return requests
	})
}

func (w watches) request(volume string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: volume}}
}

// onNode are the volumes with a replica on the node, and those that lack a place.
func (w watches) onNode(ctx context.Context, node string) []string {
	var out []string
	var replicas v1beta2.ReplicaList
	w.list(ctx, &replicas, client.MatchingFields{byNode: node})
	for i := range replicas.Items {
		out = append(out, replicas.Items[i].Spec.VolumeName)
	}
	return append(out, w.lacking(ctx)...)
}

// lacking are the volumes that lack a place.
func (w watches) lacking(ctx context.Context) []string {
	var volumes v1beta2.VolumeList
	w.list(ctx, &volumes, client.MatchingFields{byTrouble: unplaced})
	out := make([]string, 0, len(volumes.Items))
	for i := range volumes.Items {
		out = append(out, volumes.Items[i].Name)
	}
	return out
}

// all is for what concerns every volume: a setting.
func (w watches) all(ctx context.Context, _ client.Object) []string {
	var list v1beta2.VolumeList
	w.list(ctx, &list)
	out := make([]string, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	return out
}

func (w watches) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) {
	if err := w.reader.List(ctx, list, append(options, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
}
