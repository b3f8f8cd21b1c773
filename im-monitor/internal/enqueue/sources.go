package enqueue

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/shared/queue"
)

// On is a source for controllers whose keys are not names of objects: what find returns for each object of a kind whose event passes all
// predicates. Of an update both objects are given to find.
func On[T client.Object, K comparable](c cache.Cache, of T, find func(context.Context, T) []K,
	passes ...predicate.Predicate) source.TypedSource[K] {
	keys := func(ctx context.Context, o client.Object) []K { return find(ctx, o.(T)) }
	return source.TypedKind(c, client.Object(of), handler.TypedEnqueueRequestsFromMapFunc(keys), passes...)
}

// Register registers a controller of the leader with its sources.
func Register[K comparable](m manager.Manager, name string, workers int, reconciler reconcile.TypedReconciler[K],
	sources ...source.TypedSource[K]) error {
	c, err := controller.NewTyped(name, m, controller.TypedOptions[K]{
		Reconciler: reconciler, MaxConcurrentReconciles: workers, NeedLeaderElection: ptr.To(true), NewQueue: queue.New[K],
	})
	if err != nil {
		return fmt.Errorf("making controller %s: %w", name, err)
	}
	for _, from := range sources {
		if err := c.Watch(from); err != nil {
			return fmt.Errorf("watching for controller %s: %w", name, err)
		}
	}
	return nil
}
