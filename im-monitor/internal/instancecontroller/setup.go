package instancecontroller

import (
	"context"
	"errors"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the reporter and the executors, and subscribes to the inventory, which must not run yet.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, store inventory.Store, options Options) error {
	if options.Locks == nil {
		options.Locks = &execute.Locks{}
	}
	s := newBase(rt, settings, store, options)
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	store.Subscribe(s.inventoryChanged)
	return errors.Join(
		enqueue.Register(rt.Manager, "instance-status", reporters, &reporter{s}, s.reportSources(rt.Manager.GetCache())...),
		enqueue.Register(rt.Manager, "instance-execution", executorWorkers, &executor{s}, s.executorSources()...))
}
