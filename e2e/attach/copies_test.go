//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
)

// A15b: both replicas are deleted at once. One is kept until there is another.
func TestA15bTwoReplicasDeletedAtOnceLeaveOne(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		require.NoError(t, w.HoldCopies(ctx, name))
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.Len(t, replicas, 2)
		for i := range replicas {
			require.NoError(t, w.Admin.Delete(ctx, &replicas[i]))
		}
		whole := func(ctx context.Context) (string, error) { return wholeCopy(ctx, w, name) }
		require.NoError(t, w.Never(ctx, "the loss of the last copy", watching, whole))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		require.NoError(t, w.Write(ctx, name, 1, "second"))
		require.NoError(t, w.ReleaseCopies(ctx, name, copying))
		for i := range replicas {
			require.NoError(t, w.Wait(ctx, "the end of "+replicas[i].Name, patience, gone(w, &replicas[i])))
		}
		wellAgain(t, ctx, w, name)
		unharmed(t, ctx, w, name, 1, "second")
	})
}

// wholeCopy returns a text while no replica of the volume has its data.
func wholeCopy(ctx context.Context, w *world.World, name string) (string, error) {
	replicas, err := w.ReplicasOf(ctx, name)
	for _, r := range replicas {
		if r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" {
			return "", err
		}
	}
	return fmt.Sprintf("none of %d replicas is healthy", len(replicas)), err
}

// gone returns a text while the object exists.
func gone(w *world.World, object client.Object) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := w.Admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return "it is there", err
	}
}
