package recurringcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
)

// Setup registers the controller of recurring jobs. The cache must keep volumes' labels, and of a Snapshot's labels in its
// spec the one that names its job.
func Setup(ctx context.Context, rt *runkit.Runtime) error {
	if err := addIndexes(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	r := &reconciler{
		observer: observer{reader: rt.Client, namespace: rt.Namespace, clock: rt.Clock},
		client:   rt.Client, recorder: rt.Recorder,
	}
	w := watches{reader: rt.Client, namespace: rt.Namespace}
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("recurringjob").
		For(&v1beta2.RecurringJob{}).
		Watches(&v1beta2.Volume{}, w.ofVolumes()).
		Watches(&v1beta2.Snapshot{}, w.ofMade()).
		Watches(&v1beta2.Backup{}, w.ofMade()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the controller of recurring jobs: %w", err)
	}
	return nil
}
