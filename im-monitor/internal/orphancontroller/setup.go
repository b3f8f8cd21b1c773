package orphancontroller

import (
	"context"
	"errors"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the evaluation and the executor on the manager, and subscribes to the inventory, which must not run yet.
func Setup(rt *runkit.Runtime, store inventory.Store, options Options) error {
	s := newBase(rt, store, options)
	if err := rt.AddIndexes(context.Background(), indexes...); err != nil {
		return err
	}
	store.Subscribe(s.inventoryChanged)
	informers := rt.Manager.GetCache()
	return errors.Join(
		enqueue.Register(rt.Manager, "orphan-evaluation", evaluationWorkers, &evaluator{s}, s.evaluationSources(informers)...),
		enqueue.Register(rt.Manager, "orphan-execution", executorWorkers, &executor{s}, s.executorSources(informers)...))
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
		written:  kube.Written{Clock: rt.Clock, Observe: rt.Observe},
		handles:  handles{reader: rt.Uncached, clock: rt.Clock},
		mappings: mappingreader.Reader{Cached: rt.Client, Uncached: rt.Uncached, Store: store, Namespace: rt.Namespace},
	}
}
