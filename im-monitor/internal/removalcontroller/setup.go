package removalcontroller

import (
	"context"
	"time"

	"github.com/go-logr/logr"

	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// reconciler destroys the data of deleted replicas. Its key is the Replica's name.
type reconciler struct {
	rt       *runkit.Runtime
	log      logr.Logger
	store    inventory.Store
	options  Options
	mappings mappingreader.Reader
	memory   memory
	mapper   kube.Mapper
	written  kube.Written
	guard    execute.Guard
	queue    enqueue.Queue[string]
}

// Setup registers the controller on the manager, and subscribes to the inventory, which must not run yet.
func Setup(ctx context.Context, rt *runkit.Runtime, store inventory.Store, options Options) error {
	if options.Locks == nil {
		options.Locks = &execute.Locks{}
	}
	r := &reconciler{rt: rt, log: rt.Log.WithName("removal"), store: store, options: options,
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}, mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace},
		guard: execute.Guard{Clock: rt.Clock, Store: store, Locks: options.Locks, Slots: &execute.Semaphore{},
			PerManager: callsPerManager, Observe: rt.Observe},
		mappings: mappingreader.Reader{Cached: rt.Client, Uncached: rt.Uncached, Store: store, Namespace: rt.Namespace}}
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	store.Subscribe(r.inventoryChanged)
	return enqueue.Register(rt.Manager, "replica-removal", workers, r, r.sources(rt.Manager.GetCache())...)
}

// fencingDelayEnds is when this leader may touch Replicas that are being deleted. Who is not elected never may.
func (r *reconciler) fencingDelayEnds() time.Time {
	return execute.FencingDelayEnds(r.rt.ElectedAt(), r.rt.Clock.Now(), r.options.PostElectionDelay)
}
