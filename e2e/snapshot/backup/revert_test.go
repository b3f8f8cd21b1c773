//go:build !fast

package backup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// reverting is the call that the simulator's journal counts.
const reverting = "SnapshotRevert"

// A person reverts a volume to its snapshot with kubectl: the revert waits until no pod can write, and is done once,
// also when the volume is attached again afterwards.
func TestAVolumeIsRevertedToItsSnapshot(t *testing.T) {
	ctx, w := fixture(t)
	vol, snap := written(t, ctx, v1beta2.DataEngineV1)
	require.NoError(t, w.Revert(ctx, vol, snap, time.Now()))
	require.NoError(t, w.WaitReverted(ctx, vol, v1beta2.ReasonWaitingForMaintenance, patience))
	require.NoError(t, w.Keeps(ctx, vol, 1, "later"))
	detach(t, ctx, vol)
	maintenance := map[string]string{v1beta2.TicketDisableFrontend: v1beta2.TicketValueTrue}
	require.NoError(t, w.Ticket(ctx, vol, "maintenance", v1beta2.AttacherLonghornAPI, near, maintenance))
	require.NoError(t, w.WaitReverted(ctx, vol, v1beta2.ReasonReverted, patience))
	require.NoError(t, w.DropTicket(ctx, vol, "maintenance"))
	require.NoError(t, w.WaitDetached(ctx, vol, patience))
	require.NoError(t, w.Ticket(ctx, vol, "csi-1", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitAttached(ctx, vol, near, patience))
	require.NoError(t, w.Keeps(ctx, vol, 1, "first"))
	require.NoError(t, w.Write(ctx, vol, 1, "after"))
	detach(t, ctx, vol)
	require.NoError(t, w.Ticket(ctx, vol, "maintenance", v1beta2.AttacherLonghornAPI, near, maintenance))
	require.NoError(t, w.WaitAttached(ctx, vol, near, patience))
	require.Equal(t, 1, calls(t, ctx, vol, reverting))

	// Another time requests another revert; the engine has no snapshot of this name.
	require.NoError(t, w.Revert(ctx, vol, "none", time.Now()))
	require.NoError(t, w.WaitReverted(ctx, vol, v1beta2.ReasonFailed, patience))
}
