// Package replicacontroller is the reconciler of package replica: it creates, takes back and deletes Replica objects, approves the removal
// of their data, drops their finalizer, and reports on the Volume whether its replicas have a place.
package replicacontroller

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// Owner is the field manager of what this controller applies.
const Owner = "attach-controller.replicas"

// workers is how many volumes are evaluated at once; placing is serial, for all volumes share the disks.
const workers = 8

// Setup registers the controller of replicas.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, slices.Concat(indexes, upgrade.Indexes)...); err != nil {
		return err
	}
	upgrades := upgrade.Reader{Client: rt.Client, Namespace: rt.Namespace}
	w := watches{Mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}, waiting: newWaitlist()}
	r := &reconciler{
		observer: observer{reader: rt.Client, namespace: rt.Namespace, settings: settings, upgrades: upgrades, clock: rt.Clock,
			reservations: newReservations(cachedVolumes{rt.Client, rt.Namespace}),
			instances:    abandonedcontroller.Reader{Client: rt.Client, Namespace: rt.Namespace}},
		client: rt.Client, uncached: rt.Uncached, recorder: rt.Recorder, clock: rt.Clock, waiting: w.waiting, lacking: w.lacking,
		enqueued: make(chan event.GenericEvent, 64),
		newID:    func() string { return uuid.NewString()[:8] }, made: map[string][]string{},
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe},
	}
	w.reservations = r.observer.reservations
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("replica").
		For(&v1beta2.Volume{}, builder.WithPredicates(kube.OnDeepChange(volumeFacts))).
		WatchesRawSource(source.Channel(r.enqueued, &handler.EnqueueRequestForObject{})).
		WithOptions(queue.Options(workers))
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of replicas: %w", err)
	}
	return nil
}
