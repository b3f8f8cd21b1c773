//go:build !fast

package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// uiTicket holds a volume whose attacher is unknown.
const uiTicket = "longhorn-ui"

// A14: the volumes of a cluster are attached and have no VolumeAttachment. No running instance is changed.
func TestA14AttachedVolumesAreTakenOverWithoutABlink(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w, pods := kubernetes(t, engine)
		require.NoError(t, w.Pod(ctx, pods, pods, near))
		va, err := w.WaitKubernetesAttached(ctx, pods, near, patience)
		require.NoError(t, err)
		byHand := world.Unique("vol")
		require.NoError(t, w.Order(ctx, byHand, engine, 2, nil))
		require.NoError(t, w.Attach(ctx, byHand, far, patience))
		runs := map[string]map[string]string{}
		for _, name := range []string{pods, byHand} {
			require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
			require.NoError(t, w.Write(ctx, name, 1, "before"))
			runs[name], err = w.UUIDs(ctx, name)
			require.NoError(t, err)
			require.NotEmpty(t, runs[name])
		}

		controller := w.Process(world.AttachController)
		require.NoError(t, controller.Stop())
		require.NoError(t, w.Forget(ctx, pods))
		require.NoError(t, w.Forget(ctx, byHand))
		require.NoError(t, controller.Restart())

		require.NoError(t, w.WaitTicket(ctx, pods, va.Name, true, v1beta2.ReasonSatisfied, patience),
			"the pod's ticket is found by the volume's handle")
		require.NoError(t, w.WaitTicket(ctx, byHand, uiTicket, true, v1beta2.ReasonSatisfied, patience))
		require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(pods, near)))
		require.NoError(t, attachedNow(ctx, byHand, far))
		for name, before := range runs {
			after, err := w.UUIDs(ctx, name)
			require.NoError(t, err)
			require.Equal(t, before, after, "the same instances run")
			require.NoError(t, w.Write(ctx, name, 2, "after"))
			unharmed(t, ctx, w, name, 1, "before")
		}

		require.NoError(t, w.KillPod(ctx, pods))
		require.NoError(t, w.DropTicket(ctx, byHand, uiTicket))
		require.NoError(t, w.WaitDetached(ctx, pods, patience))
		require.NoError(t, w.WaitDetached(ctx, byHand, patience))
	})
}
