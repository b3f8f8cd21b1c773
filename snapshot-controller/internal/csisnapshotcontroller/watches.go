package csisnapshotcontroller

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/election"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

// watches maps the events of other objects to the contents that they are about.
type watches struct{ kube.Mapper }

func (w watches) add(c controller.Controller, objects cache.Cache, queues *election.Queues) error {
	// What exists at the beginning passes: a content may have been evaluated before that watch began.
	for _, s := range []source.Source{
		queues.Source(contents, isOurs),
		source.Kind(objects, &volumesnapshot.Content{}, &handler.TypedEnqueueRequestForObject[*volumesnapshot.Content]{},
			predicate.NewTypedPredicateFuncs(ours)),
		source.Kind(objects, &volumesnapshot.Class{}, handler.TypedEnqueueRequestsFromMapFunc(w.ofClass),
			predicate.TypedResourceVersionChangedPredicate[*volumesnapshot.Class]{}),
		source.Kind(objects, &v1beta2.Snapshot{}, handler.TypedEnqueueRequestsFromMapFunc(w.ofSnapshot),
			predicate.TypedResourceVersionChangedPredicate[*v1beta2.Snapshot]{}),
		source.Kind(objects, &v1beta2.Backup{}, handler.TypedEnqueueRequestsFromMapFunc(w.ofBackup),
			predicate.TypedResourceVersionChangedPredicate[*v1beta2.Backup]{}),
		source.Kind(objects, &v1beta2.Volume{}, handler.TypedEnqueueRequestsFromMapFunc(w.ofVolume), volumeNews()),
	} {
		if err := c.Watch(s); err != nil {
			return err
		}
	}
	return nil
}

func contents() client.ObjectList { return &volumesnapshot.ContentList{} }

func isOurs(obj client.Object) bool { return ours(obj.(*volumesnapshot.Content)) }

func ours(c *volumesnapshot.Content) bool { return csisnapshot.FromContent(c).Ours() }

// volumeNews passes the coming and going of volumes, and of clones that share a snapshot's data.
func volumeNews() predicate.TypedPredicate[*v1beta2.Volume] {
	return predicate.TypedFuncs[*v1beta2.Volume]{UpdateFunc: func(e event.TypedUpdateEvent[*v1beta2.Volume]) bool {
		return kube.Changed(v1beta2.SharedSnapshot, e.ObjectOld, e.ObjectNew)
	}}
}

func (w watches) ofClass(ctx context.Context, c *volumesnapshot.Class) []reconcile.Request {
	return w.contents(ctx, byClass, c.Name)
}

func (w watches) ofSnapshot(ctx context.Context, s *v1beta2.Snapshot) []reconcile.Request {
	return w.contents(ctx, bySnapshot, s.Name)
}

func (w watches) ofBackup(ctx context.Context, b *v1beta2.Backup) []reconcile.Request {
	return w.contents(ctx, byBackup, b.Name)
}

func (w watches) ofVolume(ctx context.Context, v *v1beta2.Volume) []reconcile.Request {
	found := w.contents(ctx, byVolume, v.Name)
	if _, shared, ok := strings.Cut(v1beta2.SharedSnapshot(v), "/"); ok {
		found = append(found, w.contents(ctx, bySnapshot, shared)...)
	}
	return found
}

func (w watches) contents(ctx context.Context, index, key string) []reconcile.Request {
	return w.Requests(w.Names(ctx, &volumesnapshot.ContentList{}, client.MatchingFields{index: key})...)
}
