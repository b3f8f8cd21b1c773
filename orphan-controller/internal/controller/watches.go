package controller

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
)

// watches maps the events of other objects to the orphans that they are about.
type watches struct {
	kube.Mapper
	// concurrent is how many orphans of a node are enqueued at once when others finish.
	concurrent int
}

// floodDelay batches the leaving of many siblings of a flood into one reconcile of each that stays.
const floodDelay = time.Second

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Orphan{}, handler.Funcs{UpdateFunc: w.orphanChanged, DeleteFunc: w.orphanGone}).
		Watches(&v1beta2.Node{}, w.To(w.ofNode), onAnyChange[v1beta2.Node]()).
		Watches(&v1beta2.InstanceManager{}, w.To(w.ofInstanceManager), onAnyChange[v1beta2.InstanceManager]()).
		Watches(&v1beta2.Engine{}, w.To(w.ofBelonging), onAnyChange[v1beta2.Engine]()).
		Watches(&v1beta2.Replica{}, w.To(w.ofBelonging), onAnyChange[v1beta2.Replica]()).
		Watches(&v1beta2.Volume{}, w.To(w.ofVolume), onAnyChange[v1beta2.Volume]()).
		Watches(&corev1.PersistentVolume{}, w.To(w.ofPersistentVolume), onAnyChange[corev1.PersistentVolume]()).
		Watches(&v1beta2.Setting{}, w.To(w.ofSetting))
}

// onAnyChange lets an update pass if something that the cache keeps has changed.
func onAnyChange[T any, P interface {
	*T
	client.Object
}]() builder.WatchesOption {
	return builder.WithPredicates(kube.OnAnyChange[T, P]())
}

func (w watches) ofNode(ctx context.Context, node client.Object) []string {
	return append(w.find(ctx, kube.FieldNode, node.GetName()), w.find(ctx, byCopies, kube.Yes)...)
}

// ofInstanceManager are its orphans when it is created or deleted; in between, those that depend on whether it lists a copy.
func (w watches) ofInstanceManager(ctx context.Context, im client.Object) []string {
	return append(w.find(ctx, byInstanceManager, im.GetName()), w.find(ctx, byCopies, kube.Yes)...)
}

// ofBelonging are the orphans of the name of an Engine or Replica, and of its volume.
func (w watches) ofBelonging(ctx context.Context, obj client.Object) []string {
	found := w.find(ctx, byInstance, obj.GetName())
	if volume := v1beta2.VolumeNameOf(obj); volume != "" {
		found = append(found, w.find(ctx, kube.FieldVolume, volume)...)
	}
	return found
}

func (w watches) ofVolume(ctx context.Context, volume client.Object) []string {
	return w.find(ctx, kube.FieldVolume, volume.GetName())
}

func (w watches) ofPersistentVolume(ctx context.Context, obj client.Object) []string {
	if pv, ok := obj.(*corev1.PersistentVolume); ok && kube.VolumeHandleOf(pv) != "" {
		return w.find(ctx, kube.FieldVolume, kube.VolumeHandleOf(pv))
	}
	return nil
}

// ofSetting is the one event that is about all orphans.
func (w watches) ofSetting(ctx context.Context, obj client.Object) []string {
	if name := obj.GetName(); name != setting.AutoDeletion && name != setting.GracePeriod {
		return nil
	}
	return w.Names(ctx, &v1beta2.OrphanList{})
}

func (w watches) find(ctx context.Context, index, key string) []string {
	return w.Names(ctx, &v1beta2.OrphanList{}, client.MatchingFields{index: key})
}

// waiting are the orphans of a node that wait for what other orphans of it do.
func (w watches) waiting(ctx context.Context, node string) []v1beta2.Orphan {
	var list v1beta2.OrphanList
	w.List(ctx, &list, client.MatchingFields{byWaiting: node})
	return list.Items
}

// orphanChanged enqueues others of the node that waited for this orphan: it is no longer under way, it no longer waits
// for the rate limit, or it does not count for a flood any more.
func (w watches) orphanChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
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
	if was, is := siblingOf(before), siblingOf(after); !was.Withdrawn && is.Withdrawn || !was.GivenUp && is.GivenUp {
		w.enqueueFlood(ctx, after.Spec.NodeID, q)
	}
}

func (w watches) orphanGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	if gone, ok := e.Object.(*v1beta2.Orphan); ok {
		w.enqueueWaiting(ctx, gone.Spec.NodeID, q)
		w.enqueueFlood(ctx, gone.Spec.NodeID, q)
	}
}

// enqueueWaiting enqueues those of a node whose turn it is.
func (w watches) enqueueWaiting(ctx context.Context, node string, q kube.Queue) {
	for _, name := range turn(w.waiting(ctx, node), w.concurrent) {
		w.Enqueue(q, name)
	}
}

// turn are the names of the oldest orphans that wait for the rate limit, of instances and of data as many as may be under way at once: the
// setting may want only one of the two. Acknowledged ones come last, since that they wait for the limit is not all that it means: data that
// no policy deletes has no turn, and in a grace period are the youngest.
func turn(waiting []v1beta2.Orphan, concurrent int) (names []string) {
	next := slices.DeleteFunc(slices.Clone(waiting), func(o v1beta2.Orphan) bool {
		foreign := conditions.Reason(o.Status.Conditions, v1beta2.OrphanOrphaned) == v1beta2.ReasonForeignData
		return o.DeletionTimestamp != nil || floodHeld(&o) || foreign
	})
	slices.SortFunc(next, byTurn)
	count := map[bool]int{}
	for _, o := range next {
		data := o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData
		if count[data] < concurrent {
			count[data]++
			names = append(names, o.Name)
		}
	}
	return names
}

// byTurn orders orphans by when it is their turn.
func byTurn(a, b v1beta2.Orphan) int {
	acknowledged := func(o v1beta2.Orphan) int {
		if conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonAcknowledged {
			return 1
		}
		return 0
	}
	return cmp.Or(acknowledged(a)-acknowledged(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

func (w watches) enqueueFlood(ctx context.Context, node string, q kube.Queue) {
	for _, o := range w.waiting(ctx, node) {
		if floodHeld(&o) {
			q.AddAfter(w.Request(o.Name), floodDelay)
		}
	}
}
