package removalcontroller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// sources are the events that may change a verdict. Each enqueues only the replicas that it concerns, nearly always none.
func (r *reconciler) sources(c cache.Cache) []source.TypedSource[string] {
	return []source.TypedSource[string]{
		source.TypedFunc[string](r.queue.Start),
		enqueue.On(c, &v1beta2.Replica{}, func(_ context.Context, o *v1beta2.Replica) []string { return []string{o.Name} }, kube.If(going)),
		enqueue.On(c, &v1beta2.Engine{}, r.ofEngine, kube.OnDeepChange(mapping.EngineOf)),
		enqueue.On(c, &v1beta2.Node{}, func(ctx context.Context, n *v1beta2.Node) []string { return r.named(ctx, byNode, n.Name) },
			kube.OnChange(v1beta2.IsNodeDown)),
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
