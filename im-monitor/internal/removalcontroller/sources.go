package removalcontroller

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
)

// sources are the events that may change a verdict. Each enqueues only the replicas that it concerns, nearly always none.
func (r *reconciler) sources(c cache.Cache) []source.TypedSource[string] {
	return []source.TypedSource[string]{
		source.TypedFunc[string](r.queue.Start),
		source.TypedKind(c, &v1beta2.Replica{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(_ context.Context, o *v1beta2.Replica) []string { return []string{o.Name} }), predicate.NewTypedPredicateFuncs(going)),
		source.TypedKind(c, &v1beta2.Engine{}, handler.TypedEnqueueRequestsFromMapFunc(r.ofEngine), engineChanged()),
		source.TypedKind(c, &v1beta2.Node{}, handler.TypedEnqueueRequestsFromMapFunc(
			func(ctx context.Context, n *v1beta2.Node) []string { return r.named(ctx, byNode, n.Name) }), nodeChanged()),
	}
}

// ofEngine are the deleted replicas of an engine's volume; those that it kept are tried again at once.
func (r *reconciler) ofEngine(ctx context.Context, e *v1beta2.Engine) []string {
	names := r.named(ctx, byVolume, e.Spec.VolumeName)
	if len(names) > 0 {
		r.memory.retry(v1beta2.ReasonMappedByEngine, names...)
	}
	return names
}

// engineChanged lets pass only what reports which replicas an engine uses.
func engineChanged() predicate.TypedPredicate[*v1beta2.Engine] {
	return predicate.TypedFuncs[*v1beta2.Engine]{UpdateFunc: func(e event.TypedUpdateEvent[*v1beta2.Engine]) bool {
		before, after := mapping.EngineOf(e.ObjectOld), mapping.EngineOf(e.ObjectNew)
		return before.Running != after.Running || !maps.Equal(before.Replicas, after.Replicas)
	}}
}

// nodeChanged lets pass only what reports that a node is down, or back.
func nodeChanged() predicate.TypedPredicate[*v1beta2.Node] {
	return predicate.TypedFuncs[*v1beta2.Node]{UpdateFunc: func(e event.TypedUpdateEvent[*v1beta2.Node]) bool {
		return v1beta2.IsNodeDown(e.ObjectOld) != v1beta2.IsNodeDown(e.ObjectNew)
	}}
}

// inventoryChanged enqueues the removals that a list concerns. When an inventory becomes known again, tries that failed
// because one was not are due at once, wherever the data is.
func (r *reconciler) inventoryChanged(change inventory.Change) {
	if !change.Whole {
		r.queue.Add(r.memory.underWay(change.Names)...)
		return
	}
	r.queue.Add(r.named(context.Background(), byNode, change.Node)...)
	if _, known := r.store.Latest(change.InstanceManager); known {
		r.queue.Add(r.memory.retry(v1beta2.ReasonUnreachable)...)
	}
}
