package orphancontroller

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the evaluation and the executor on the manager, and subscribes to the inventory, which must not run yet.
func Setup(rt *runkit.Runtime, store inventory.Store, options Options) error {
	s := newBase(rt, store, options)
	if err := addIndexes(context.Background(), rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	store.Subscribe(s.inventoryChanged)
	informers := rt.Manager.GetCache()
	if err := s.register(rt, "orphan-evaluation", evaluationWorkers, &evaluator{s}, s.evaluationSources(informers)); err != nil {
		return err
	}
	return s.register(rt, "orphan-execution", executorWorkers, &executor{s}, s.executorSources(informers))
}

func newBase(rt *runkit.Runtime, store inventory.Store, options Options) *base {
	if options.Locks == nil {
		options.Locks = &execute.Locks{}
	}
	return &base{
		client: rt.Client, uncached: rt.Uncached, store: store, recorder: rt.Recorder, clock: rt.Clock,
		log: rt.Log.WithName("orphan"), namespace: rt.Namespace, electedAt: rt.ElectedAt,
		callTimeout: rt.RenewDeadline / 2, options: options,
		guard: execute.Guard{Clock: rt.Clock, Store: store, Locks: options.Locks, Slots: &execute.Semaphore{},
			PerManager: callsPerManager, Observe: rt.Observe},
		handles:  handles{reader: rt.Uncached, clock: rt.Clock},
		mappings: mappingreader.Reader{Cached: rt.Client, Uncached: rt.Uncached, Store: store, Namespace: rt.Namespace},
	}
}

func (s *base) register(rt *runkit.Runtime, name string, workers int, reconciler reconcile.TypedReconciler[orphan.Key],
	sources []source.TypedSource[orphan.Key]) error {
	c, err := controller.NewTyped(name, rt.Manager, controller.TypedOptions[orphan.Key]{
		Reconciler: reconciler, MaxConcurrentReconciles: workers, NeedLeaderElection: ptr.To(true),
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
