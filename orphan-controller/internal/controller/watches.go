package controller

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// watches maps the events of other objects to the orphans that they are about.
type watches struct {
	reader    client.Reader
	namespace string
	// concurrent is how many orphans of a node are enqueued at once when others finish.
	concurrent int
}

// floodDelay batches the leaving of many siblings of a flood into one reconcile of each that stays.
const floodDelay = time.Second

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Orphan{}, handler.Funcs{UpdateFunc: w.orphanChanged, DeleteFunc: w.orphanGone}).
		Watches(&v1beta2.Node{}, w.to(w.ofNode), changed()).
		Watches(&v1beta2.InstanceManager{}, w.to(w.ofInstanceManager), changed()).
		Watches(&v1beta2.Engine{}, w.to(w.ofBelonging), changed()).
		Watches(&v1beta2.Replica{}, w.to(w.ofBelonging), changed()).
		Watches(&v1beta2.Volume{}, w.to(w.ofVolume), changed()).
		Watches(&corev1.PersistentVolume{}, w.to(w.ofPersistentVolume), changed()).
		Watches(&v1beta2.Setting{}, w.to(w.ofSetting))
}

// changed lets an update pass if something that the cache keeps has changed.
func changed() builder.WatchesOption {
	return builder.WithPredicates(predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.DeepCopyObject().(client.Object), e.ObjectNew.DeepCopyObject().(client.Object)
		before.SetResourceVersion("")
		after.SetResourceVersion("")
		return !equality.Semantic.DeepEqual(before, after)
	}})
}

func (w watches) to(find func(context.Context, client.Object) []types.NamespacedName) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, name := range find(ctx, obj) {
			requests = append(requests, reconcile.Request{NamespacedName: name})
		}
		return requests
	})
}

func (w watches) ofNode(ctx context.Context, node client.Object) []types.NamespacedName {
	return append(w.find(ctx, byNode, node.GetName()), w.find(ctx, byCopies, copiesMatter)...)
}

// ofInstanceManager are its orphans when it is created or deleted; in between, those that depend on whether it lists a copy.
func (w watches) ofInstanceManager(ctx context.Context, im client.Object) []types.NamespacedName {
	return append(w.find(ctx, byInstanceManager, im.GetName()), w.find(ctx, byCopies, copiesMatter)...)
}

// ofBelonging are the orphans of the name of an Engine or Replica, and of its volume.
func (w watches) ofBelonging(ctx context.Context, obj client.Object) []types.NamespacedName {
	found := w.find(ctx, byInstance, obj.GetName())
	if volume := v1beta2.VolumeNameOf(obj); volume != "" {
		found = append(found, w.find(ctx, byVolume, volume)...)
	}
	return found
}

func (w watches) ofVolume(ctx context.Context, volume client.Object) []types.NamespacedName {
	return w.find(ctx, byVolume, volume.GetName())
}

func (w watches) ofPersistentVolume(ctx context.Context, obj client.Object) []types.NamespacedName {
	if pv, ok := obj.(*corev1.PersistentVolume); ok && handleOf(pv) != "" {
		return w.find(ctx, byVolume, handleOf(pv))
	}
	return nil
}

// ofSetting is the one event that is about all orphans.
func (w watches) ofSetting(ctx context.Context, obj client.Object) []types.NamespacedName {
	if name := obj.GetName(); name != setting.AutoDeletion && name != setting.GracePeriod {
		return nil
	}
	return names(w.list(ctx))
}

func (w watches) find(ctx context.Context, index, key string) []types.NamespacedName {
	return names(w.list(ctx, client.MatchingFields{index: key}))
}

func (w watches) list(ctx context.Context, which ...client.ListOption) []v1beta2.Orphan {
	var list v1beta2.OrphanList
	if err := w.reader.List(ctx, &list, append(which, client.InNamespace(w.namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing orphans from the cache")
	}
	return list.Items
}

func names(list []v1beta2.Orphan) []types.NamespacedName {
	out := make([]types.NamespacedName, 0, len(list))
	for i := range list {
		out = append(out, client.ObjectKeyFromObject(&list[i]))
	}
	return out
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// orphanChanged enqueues others of the node that waited for this orphan: it is no longer under way, it no longer waits
// for the rate limit, or it does not count for a flood any more.
func (w watches) orphanChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	before, ok := e.ObjectOld.(*v1beta2.Orphan)
	after, alsoOK := e.ObjectNew.(*v1beta2.Orphan)
	if !ok || !alsoOK {
		return
	}
	finished := inFlight(before) && !inFlight(after)
	passed := waiting(before) && !waiting(after) && !inFlight(after)
	if finished || passed {
		w.enqueueWaiting(ctx, after.Spec.NodeID, q)
	}
	if !siblingOf(before).Withdrawn && siblingOf(after).Withdrawn {
		w.enqueueFlood(ctx, after.Spec.NodeID, q)
	}
}

func (w watches) orphanGone(ctx context.Context, e event.DeleteEvent, q queue) {
	if gone, ok := e.Object.(*v1beta2.Orphan); ok {
		w.enqueueWaiting(ctx, gone.Spec.NodeID, q)
		w.enqueueFlood(ctx, gone.Spec.NodeID, q)
	}
}

// enqueueWaiting enqueues the oldest orphans that wait for the rate limit, as many as may be under way at once.
func (w watches) enqueueWaiting(ctx context.Context, node string, q queue) {
	var next []v1beta2.Orphan
	for _, o := range w.list(ctx, client.MatchingFields{byWaiting: node}) {
		if o.DeletionTimestamp == nil && !floodHeld(&o) {
			next = append(next, o)
		}
	}
	slices.SortFunc(next, func(a, b v1beta2.Orphan) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, name := range names(next[:min(len(next), w.concurrent)]) {
		q.Add(reconcile.Request{NamespacedName: name})
	}
}

func (w watches) enqueueFlood(ctx context.Context, node string, q queue) {
	for _, o := range w.list(ctx, client.MatchingFields{byWaiting: node}) {
		if floodHeld(&o) {
			q.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&o)}, floodDelay)
		}
	}
}
