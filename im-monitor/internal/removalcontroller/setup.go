package removalcontroller

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"

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
		written: kube.Written{Clock: rt.Clock},
		guard: execute.Guard{Clock: rt.Clock, Store: store, Locks: options.Locks, Slots: &execute.Semaphore{},
			PerManager: callsPerManager, Observe: rt.Observe},
		mappings: mappingreader.Reader{Cached: rt.Client, Uncached: rt.Uncached, Store: store, Namespace: rt.Namespace}}
	if err := addIndexes(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	store.Subscribe(r.inventoryChanged)
	c, err := controller.NewTyped("replica-removal", rt.Manager, controller.TypedOptions[string]{
		Reconciler: r, MaxConcurrentReconciles: workers, NeedLeaderElection: ptr.To(true),
	})
	if err != nil {
		return fmt.Errorf("making controller replica-removal: %w", err)
	}
	for _, from := range r.sources(rt.Manager.GetCache()) {
		if err := c.Watch(from); err != nil {
			return fmt.Errorf("watching for controller replica-removal: %w", err)
		}
	}
	return nil
}

// fencingDelayEnds is when this leader may touch Replicas that are being deleted. Who is not elected never may.
func (r *reconciler) fencingDelayEnds() time.Time {
	return execute.FencingDelayEnds(r.rt.ElectedAt(), r.rt.Clock.Now(), r.options.PostElectionDelay)
}
