package recurringcontroller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// Setup registers the controllers of recurring jobs, one that leads their runs and one that deletes what is not kept.
// The cache must keep volumes' labels, and of a Snapshot's labels in its spec the one that names its job; what it keeps of claims and
// PersistentVolumes is Cached's.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, slices.Concat(volumecontext.Indexes, indexes)...); err != nil {
		return err
	}
	o := observer{reader: rt.Client, namespace: rt.Namespace, settings: settings, clock: rt.Clock}
	w := watches{Mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("recurringjob").WithOptions(queue.Options(1)).
		For(&v1beta2.RecurringJob{}).
		Watches(&v1beta2.Volume{}, w.ofVolumes(w.lead)).
		Watches(aClaim(), w.ofClaims(w.lead)).
		Watches(&corev1.PersistentVolume{}, w.ofBindings(w.lead)).
		Watches(&v1beta2.Snapshot{}, w.ofMade(w.leadRunning)).
		Watches(&v1beta2.Snapshot{}, w.ofGoing()).
		Watches(&v1beta2.Backup{}, w.ofMade(w.leadRunning)).
		Complete(&reconciler{observer: o, client: rt.Client, recorder: rt.Recorder, finished: newFinished(),
			written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}})
	if err != nil {
		return fmt.Errorf("setting up the controller of recurring jobs: %w", err)
	}
	err = ctrl.NewControllerManagedBy(rt.Manager).Named("recurringjob-retention").WithOptions(queue.Options(1)).
		Watches(&v1beta2.RecurringJob{}, w.ofJobs()).
		Watches(&v1beta2.Volume{}, w.ofVolumes(w.retain)).
		Watches(aClaim(), w.ofClaims(w.retain)).
		Watches(&corev1.PersistentVolume{}, w.ofBindings(w.retain)).
		Watches(&v1beta2.Snapshot{}, w.ofMade(w.retain)).
		Watches(&v1beta2.Backup{}, w.ofMade(w.retain)).
		Complete(&retention{observer: o, client: rt.Client, recorder: rt.Recorder})
	if err != nil {
		return fmt.Errorf("setting up the controller of what recurring jobs keep: %w", err)
	}
	return nil
}
