package ticketcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
)

// workers is how many volumes are evaluated at once; each has its own tickets.
const workers = 4

// Setup registers the controller of the tickets that attach-controller itself creates and collects.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source[setting.Values]) error {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	r := &reconciler{
		observer: observer{
			gatherer: gatherer{reader: rt.Client, namespace: rt.Namespace, of: indexed},
			uncached: rt.Uncached, settings: settings, clock: rt.Clock,
		},
		client: rt.Client, recorder: rt.Recorder, clock: rt.Clock,
	}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("ticket").
		For(&v1beta2.Volume{}, builder.WithPredicates(kube.OnChange(volumeFacts))).
		WithOptions(queue.Options(workers))
	w := watches{kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of tickets: %w", err)
	}
	return nil
}
