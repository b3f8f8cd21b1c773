package instancecontroller

import (
	"context"
	"fmt"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the reporter and the executors, and subscribes to the inventory, which must not run yet. The index of objects by node
// is the ownership controller's, which is to be set up, too.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store, options Options) error {
	if options.Locks == nil {
		options.Locks = &execute.Locks{}
	}
	s := newBase(rt, settings, store, options)
	if err := addIndexes(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	store.Subscribe(s.inventoryChanged)
	if err := s.register("instance-status", reporters, &reporter{s}, s.reportSources(rt.Manager.GetCache())); err != nil {
		return err
	}
	return s.register("instance-execution", executorWorkers, &executor{s}, s.executorSources())
}

func (s *base) register(name string, workers int, reconciler reconcile.TypedReconciler[Key], sources []source.TypedSource[Key]) error {
	c, err := controller.NewTyped(name, s.rt.Manager, controller.TypedOptions[Key]{
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
