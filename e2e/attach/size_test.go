//go:build !fast

package attach

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// scheduledReason returns a text while the volume's condition Scheduled has another reason.
func scheduledReason(reason string) func(*v1beta2.Volume) string {
	return func(v *v1beta2.Volume) string {
		if is := conditions.Reason(v.Status.Conditions, v1beta2.VolumeScheduled); is != reason {
			return fmt.Sprintf("Scheduled has reason %q, not %s", is, reason)
		}
		return ""
	}
}

func resize(ctx context.Context, w *world.World, name string, size int64) error {
	v := &v1beta2.Volume{}
	if err := w.Get(ctx, name, v); err != nil {
		return err
	}
	return w.Patch(ctx, v, map[string]any{"spec": map[string]any{"size": fmt.Sprint(size)}})
}

// grown waits until a volume has grown that a ticket holds on a node. On real servers without iSCSI only an engine without a frontend
// grows: there a person attaches the volume for maintenance meanwhile.
func grown(t *testing.T, ctx context.Context, w *world.World, name, ticket, node string, size int64) {
	t.Helper()
	if !world.IsReal() {
		require.NoError(t, w.WaitGrown(ctx, name, size, patience))
		return
	}
	require.NoError(t, w.Ticket(ctx, name, "maintenance", v1beta2.AttacherLonghornAPI, node, disableFrontend))
	require.NoError(t, w.DropTicket(ctx, name, ticket))
	require.NoError(t, w.WaitGrown(ctx, name, size, patience))
	require.NoError(t, w.Ticket(ctx, name, ticket, v1beta2.AttacherCSI, node, nil))
	require.NoError(t, w.DropTicket(ctx, name, "maintenance"))
	require.NoError(t, w.WaitTicket(ctx, name, ticket, true, "", patience))
	require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
}

// A size that does not fit takes no room from other volumes, is reported with what is missing, and can be reduced; an accepted size cannot.
func TestASizeThatNoDiskHasRoomForBlocksNoOtherVolume(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := inUse(t, ctx, w, engine, 2, nil)
		require.NoError(t, resize(ctx, w, name, 999999999999999999))
		require.NoError(t, w.WaitVolume(ctx, name, "to report that there is no room", patience,
			scheduledReason(v1beta2.ReasonInsufficientSpace)))
		other := inUse(t, ctx, w, engine, 3, nil) // every replica has a place
		require.NoError(t, resize(ctx, w, name, 2*world.VolumeSize))
		grown(t, ctx, w, name, "csi-pod", near, 2*world.VolumeSize)
		require.NoError(t, w.WaitVolume(ctx, name, "to have room", patience, scheduledReason(v1beta2.ReasonPlaced)))
		require.ErrorContains(t, resize(ctx, w, name, world.VolumeSize), "spec.size only grows")
		unharmed(t, ctx, w, name, 1, "first")
		unharmed(t, ctx, w, other, 1, "first")
	})
}

// A volume without a size reports it, and is scheduled once it has one.
func TestAVolumeThatGetsItsSizeLate(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := world.Unique("vol")
		require.NoError(t, w.Order(ctx, name, engine, 2, func(s *v1beta2.VolumeSpec) { s.Size = 0 }))
		require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, near, nil))
		require.NoError(t, w.WaitVolume(ctx, name, "to report that it has no size", patience, scheduledReason(v1beta2.ReasonSizeMissing)))
		require.NoError(t, resize(ctx, w, name, world.VolumeSize))
		require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Write(ctx, name, 1, "first"))
		unharmed(t, ctx, w, name, 1, "first")
	})
}
