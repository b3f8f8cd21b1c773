package snapshotcontroller

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/upgrade/rehearsal"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// workers is how many snapshots are decided on at once; each has its own object and its own ticket. What takes time is the one
// write of a decision, and of many snapshots those are many.
const workers = 32

// enqueueBuffer is how many requests may wait until the workqueue takes them.
const enqueueBuffer = 1024

// Setup registers the controller of snapshots.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, slices.Concat(volumecontext.Indexes, indexes)...); err != nil {
		return err
	}
	enqueues := make(chan event.TypedGenericEvent[string], enqueueBuffer)
	r := &reconciler{
		observer: observer{reader: rt.Client, uncached: rt.Uncached, namespace: rt.Namespace, settings: settings, clock: rt.Clock},
		client:   rt.Client, recorder: rt.Recorder, purges: newPurgeQueue(), uids: map[string]types.UID{},
		enqueue: func(names []string) {
			for _, name := range names {
				enqueues <- event.TypedGenericEvent[string]{Object: name}
			}
		},
	}
	w := watches{Mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}, purges: r.purges}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("snapshot").
		For(&v1beta2.Snapshot{}, builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesRawSource(source.TypedChannel(enqueues, handler.TypedFuncs[string, ctrl.Request]{
			GenericFunc: func(_ context.Context, e event.TypedGenericEvent[string], q kube.Queue) { w.Enqueue(q, e.Object) },
		})).
		WithOptions(queue.Options(workers))
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of snapshots: %w", err)
	}
	return rehearsal.Setup(rt, Owner, rehearsalSource{cached: rt.Client, live: rt.Uncached, namespace: rt.Namespace})
}
