package recurringcontroller

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// ofClaims is for claims that are the source of their volumes' jobs, begin to be, or are no longer.
func (w watches) ofClaims(then then) handler.Funcs {
	follow := func(ctx context.Context, q kube.Queue, claims ...client.Object) {
		bound, err := observer{reader: w.Reader}.bindings(ctx, byClaim, string(claims[0].GetUID()))
		w.failed(ctx, err)
		for _, b := range bound {
			w.sourced(ctx, q, then, b.volume, claims...)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			if !e.IsInInitialList {
				follow(ctx, q, e.Object)
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			if !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) {
				follow(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) { follow(ctx, q, e.Object) },
	}
}

// ofBindings is for PersistentVolumes that bind a claim to a volume, or do so no longer.
func (w watches) ofBindings(then then) handler.Funcs {
	follow := func(ctx context.Context, q kube.Queue, b binding) {
		claim, err := lookup.Shared(ctx, w.Reader, b.claim.Namespace, b.claim.Name, aClaim())
		w.failed(ctx, err)
		if claim != nil && claim.UID == b.uid {
			w.sourced(ctx, q, then, b.volume, claim)
		}
	}
	of := func(obj client.Object) binding { return bindingOf(obj.(*corev1.PersistentVolume)) }
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q kube.Queue) {
			if !e.IsInInitialList {
				follow(ctx, q, of(e.Object))
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
			if was, is := of(e.ObjectOld), of(e.ObjectNew); was != is {
				follow(ctx, q, was)
				follow(ctx, q, is)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q kube.Queue) { follow(ctx, q, of(e.Object)) },
	}
}

// sourced follows the jobs of a volume that its claim names, as it was or as it is, and those that the volume itself names.
func (w watches) sourced(ctx context.Context, q kube.Queue, then then, volume string, claims ...client.Object) {
	v, err := lookup.Shared(ctx, w.Reader, w.Namespace, volume, &v1beta2.Volume{})
	w.failed(ctx, err)
	if v == nil {
		return
	}
	sets := []map[string]string{v.Labels}
	for _, claim := range claims {
		sets = append(sets, claim.GetLabels())
	}
	w.follow(ctx, q, then, volume, sets...)
}
