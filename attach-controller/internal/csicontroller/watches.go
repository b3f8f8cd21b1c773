package csicontroller

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
)

// ours passes the VolumeAttachments of this driver.
func ours() predicate.Predicate {
	return predicate.NewPredicateFuncs(isOurs)
}

// changed filters updates for changes of what the cache keeps.
func changed() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.DeepCopyObject().(client.Object), e.ObjectNew.DeepCopyObject().(client.Object)
		before.SetResourceVersion("")
		after.SetResourceVersion("")
		return !equality.Semantic.DeepEqual(before, after)
	}}
}

// gone passes only the end of an object.
func gone() predicate.Predicate {
	no := func(event.CreateEvent) bool { return false }
	return predicate.Funcs{CreateFunc: no, UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// held passes PersistentVolumes that are being deleted and have our finalizer.
func held() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(obj client.Object) bool {
		pv := csi.FromPersistentVolume(obj.(*corev1.PersistentVolume))
		return pv.Deleting && pv.HasFinalizer
	})
}

func nodeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return csi.FromNode(e.ObjectOld.(*v1beta2.Node)) != csi.FromNode(e.ObjectNew.(*v1beta2.Node))
	}}
}

func volumeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return csi.FromVolume(e.ObjectOld.(*v1beta2.Volume)) != csi.FromVolume(e.ObjectNew.(*v1beta2.Volume))
	}}
}

func ticketsChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1beta2.VolumeAttachment), e.ObjectNew.(*v1beta2.VolumeAttachment)
		return !reflect.DeepEqual(csi.FromTickets(before), csi.FromTickets(after))
	}}
}

// watches maps the events of other objects to their VolumeAttachments.
type watches struct{ reader client.Reader }

func (w watches) to(find func(context.Context, client.Object) []reconcile.Request) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(find)
}

func (w watches) ofPersistentVolume(ctx context.Context, obj client.Object) []reconcile.Request {
	return w.attachments(ctx, byPersistentVolume, obj.GetName())
}

func (w watches) ofNode(ctx context.Context, obj client.Object) []reconcile.Request {
	return w.attachments(ctx, byNode, obj.GetName())
}

func (w watches) ofVolume(ctx context.Context, obj client.Object) []reconcile.Request {
	found := w.attachments(ctx, byVolume, obj.GetName())
	var list corev1.PersistentVolumeList
	if err := w.reader.List(ctx, &list, client.MatchingFields{byHandle: obj.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing PersistentVolumes from the cache")
	}
	for i := range list.Items {
		found = append(found, w.ofPersistentVolume(ctx, &list.Items[i])...)
	}
	return found
}

// ofTickets finds those of the volume, and those that have a ticket there, which may be another volume's.
func (w watches) ofTickets(ctx context.Context, obj client.Object) []reconcile.Request {
	found := w.ofVolume(ctx, obj)
	for _, id := range ticketsOfKubernetes(obj.(*v1beta2.VolumeAttachment)) {
		found = append(found, request(id))
	}
	return found
}

func (w watches) attachments(ctx context.Context, index, key string) []reconcile.Request {
	var list storagev1.VolumeAttachmentList
	if err := w.reader.List(ctx, &list, client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy); err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing VolumeAttachments from the cache")
	}
	var found []reconcile.Request
	for i := range list.Items {
		if list.Items[i].Spec.Attacher == csi.Driver {
			found = append(found, request(list.Items[i].Name))
		}
	}
	return found
}

func persistentVolumeOf(_ context.Context, obj client.Object) []reconcile.Request {
	name := csi.FromAttachment(obj.(*storagev1.VolumeAttachment)).PersistentVolume
	if name == "" {
		return nil
	}
	return []reconcile.Request{request(name)}
}

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}
}
