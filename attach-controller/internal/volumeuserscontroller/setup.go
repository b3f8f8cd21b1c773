// Package volumeuserscontroller writes who uses each volume, and how many bytes it takes, to the Volume, with package volumeusers.
package volumeuserscontroller

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// workers is how many volumes are evaluated at once.
const workers = 4

// Setup registers the controller of the users of volumes.
func Setup(ctx context.Context, rt *runkit.Runtime) error {
	if err := rt.AddIndexes(ctx, append(kube.ByClaim(), kube.ByHandle(), kube.ByVolume(&v1beta2.Engine{}))...); err != nil {
		return err
	}
	r := &reconciler{client: rt.Client, namespace: rt.Namespace, clock: rt.Clock,
		written: kube.Written{Clock: rt.Clock, Observe: rt.Observe}}
	b := ctrl.NewControllerManagedBy(rt.Manager).Named("volume-users").WithOptions(queue.Options(workers))
	if err := (watches{kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}).add(b).Complete(r); err != nil {
		return fmt.Errorf("setting up the controller of the users of volumes: %w", err)
	}
	return nil
}
