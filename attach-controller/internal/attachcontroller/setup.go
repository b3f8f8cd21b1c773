package attachcontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// workers is how many volumes are evaluated at once. Each waits for the API server most of its time.
const workers = 8

// Setup registers the controller that decides which ticket holds a volume. No setting changes that.
func Setup(ctx context.Context, rt *runkit.Runtime) error {
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	r := &reconciler{
		observer: observer{reader: rt.Client, namespace: rt.Namespace, clock: rt.Clock},
		writer:   writer{client: rt.Client, uncached: rt.Uncached},
		client:   rt.Client, recorder: rt.Recorder,
	}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("attachment").
		For(&v1beta2.Volume{}, builder.WithPredicates(kube.OnChange(attach.VolumeOf))).
		WithOptions(queue.Options(workers))
	w := watches{kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	if err := w.add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of attachments: %w", err)
	}
	return nil
}
