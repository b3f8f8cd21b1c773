// Package machinecontroller is the reconciler of the volume machine: it reads the machine's input, applies its verdict in order, and emits
// what changed.
package machinecontroller

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"drover.dev/drover/attach-controller/internal/abandonedcontroller"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/upgrade"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// workers is how many volumes are evaluated at once; each has its own objects.
const workers = 16

// Setup registers the volume machine.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, slices.Concat(indexes, upgrade.Indexes)...); err != nil {
		return err
	}
	upgrades := upgrade.Reader{Client: rt.Client, Namespace: rt.Namespace}
	r := &reconciler{
		observer: observer{reader: rt.Client, uncached: rt.Uncached, namespace: rt.Namespace, settings: settings, upgrades: upgrades,
			clock:     rt.Clock,
			instances: abandonedcontroller.Reader{Client: rt.Client, Namespace: rt.Namespace}},
		client: rt.Client, recorder: rt.Recorder, clock: rt.Clock,
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe},
	}
	w := watches{kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("volume").
		For(&v1beta2.Volume{}, builder.WithPredicates(kube.OnDeepChange(volumeFacts))).
		WithOptions(queue.Options(workers))
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the volume machine: %w", err)
	}
	return nil
}
