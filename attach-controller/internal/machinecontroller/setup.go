// Package machinecontroller is the reconciler of the volume machine: it reads the machine's input, applies its verdict in order, and emits
// what changed.
package machinecontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// workers is how many volumes are evaluated at once; each has its own objects.
const workers = 16

// Setup registers the volume machine.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := addIndexes(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	upgrades := upgrade.Reader{Client: rt.Client, Namespace: rt.Namespace, Index: "machinecontroller.underWay"}
	if err := upgrades.AddIndex(ctx, rt.Manager.GetFieldIndexer()); err != nil {
		return err
	}
	r := &reconciler{
		observer: observer{reader: rt.Client, uncached: rt.Uncached, namespace: rt.Namespace, settings: settings, upgrades: upgrades,
			clock:     rt.Clock,
			instances: abandonedcontroller.Reader{Client: rt.Client, Namespace: rt.Namespace}},
		client: rt.Client, recorder: rt.Recorder, clock: rt.Clock,
	}
	w := watches{reader: rt.Client, namespace: rt.Namespace}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("volume").
		For(&v1beta2.Volume{}, builder.WithPredicates(changed(volumeFacts))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers})
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the volume machine: %w", err)
	}
	return nil
}
