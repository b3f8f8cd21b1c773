//go:build !fast

package attach

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestA1ATicketAttachesAndItsEndDetaches(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := fixture(t)
		name := world.Unique("vol")
		require.NoError(t, w.Order(ctx, name, engine, 2, nil))
		require.NoError(t, w.Ticket(ctx, name, "me", v1beta2.AttacherLonghornAPI, near, nil))
		require.NoError(t, w.WaitTicket(ctx, name, "me", true, v1beta2.ReasonSatisfied, patience))
		volume := &v1beta2.Volume{}
		require.NoError(t, w.Get(ctx, name, volume))
		require.Equal(t, near, volume.Status.CurrentNodeID, "a satisfied ticket means that the volume's status is written")
		require.Equal(t, v1beta2.VolumeStateAttached, volume.Status.State)
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))

		require.NoError(t, w.DropTicket(ctx, name, "me"))
		require.NoError(t, w.WaitDetached(ctx, name, patience))
		// Again, elsewhere.
		require.NoError(t, w.Attach(ctx, name, far, patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.LetGo(ctx, name, patience))
	})
}

// A2: priority, then the shorter ID, then the smaller ID.
func TestA2TheOrderOfTicketsDecides(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, nil))
	require.NoError(t, w.Attach(ctx, name, near, patience))
	require.NoError(t, w.Ticket(ctx, name, "csi-b", v1beta2.AttacherCSI, third, nil))
	require.NoError(t, w.Ticket(ctx, name, "csi-a", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.Ticket(ctx, name, "csi-a-longer", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-a", false, v1beta2.ReasonAttachedElsewhere, patience))
	require.NoError(t, w.DropTicket(ctx, name, "csi-a-longer"))
	require.NoError(t, w.DropTicket(ctx, name, "by-hand"))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-a", true, "", patience))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-b", false, "", patience))
	require.NoError(t, w.DropTicket(ctx, name, "csi-a"))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-b", true, "", patience), "the waiting ticket is served eventually")
}

func TestA3ATicketThatCannotBeServedReportsWhyAndBlocksNoOtherTicket(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, nil))
	require.NoError(t, w.Ticket(ctx, name, "a", v1beta2.AttacherLonghornAPI, "", nil))
	require.NoError(t, w.Ticket(ctx, name, "b", v1beta2.AttacherLonghornAPI, "node-nowhere", nil))
	require.NoError(t, w.WaitTicket(ctx, name, "a", false, v1beta2.ReasonNoNode, patience))
	require.NoError(t, w.WaitTicket(ctx, name, "b", false, v1beta2.ReasonNodeUnknown, patience))
	require.NoError(t, w.KillKubelet(ctx, third))
	require.NoError(t, w.WaitNode(ctx, third, v1beta2.ConditionFalse, patience))
	require.NoError(t, w.Ticket(ctx, name, "c", v1beta2.AttacherCSI, third, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "c", false, v1beta2.ReasonNodeNotReady, patience))
	require.NoError(t, w.Ticket(ctx, name, "late", v1beta2.AttacherSnapshot, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "late", true, "", patience))
}

func TestA4AWorkloadInterruptsWorkInTheBackground(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, w.Snapshot(ctx, name, name+"-s"))
	snapshot := v1beta2.TicketID(v1beta2.AttacherSnapshot, name+"-s")
	require.NoError(t, w.Ticket(ctx, name, snapshot, v1beta2.AttacherSnapshot, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, snapshot, true, "", patience))
	require.NoError(t, w.Ticket(ctx, name, "csi-pod", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-pod", true, "", patience))
	require.NoError(t, w.WaitTicket(ctx, name, snapshot, false, "", patience))
	require.NoError(t, w.DropTicket(ctx, name, "csi-pod"))
	require.NoError(t, w.WaitTicket(ctx, name, snapshot, true, "", patience), "and the work continues afterwards")
}

func TestA4ARestoreIsNotInterrupted(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, nil))
	require.NoError(t, w.Ticket(ctx, name, "csi-one", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "csi-one", true, "", patience))
	require.NoError(t, w.Ticket(ctx, name, "hand", v1beta2.AttacherLonghornAPI, far, nil))
	require.NoError(t, w.WaitTicket(ctx, name, "hand", false, v1beta2.ReasonAttachedElsewhere, patience))
	require.NoError(t, w.Never(ctx, "a detachment", watching, attachedTo(name, near)))
}

func TestA5ATicketForAnotherFrontendOnTheSameNodeReportsTheHolder(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, nil))
	require.NoError(t, w.Attach(ctx, name, near, patience))
	require.NoError(t, w.Ticket(ctx, name, "quiet", v1beta2.AttacherLonghornAPI, near, disableFrontend))
	require.NoError(t, w.WaitTicket(ctx, name, "quiet", false, v1beta2.ReasonAttachedWithIncompatibleParameters, patience))
	answer := answerOf(t, ctx, name, "quiet")
	require.Contains(t, answer, "by-hand", "the message names the holder")
}

func TestA15ATicketWhoseOwnerIsGoneEnds(t *testing.T) {
	ctx, w := fixture(t)
	name := world.Unique("vol")
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, nil))
	owner := map[string]string{v1beta2.TicketOwnerKind: "Snapshot", v1beta2.TicketOwnerName: "never-made",
		v1beta2.TicketOwnerUID: "11111111-2222-3333-4444-555555555555"}
	id := v1beta2.TicketID(v1beta2.AttacherSnapshot, "never-made")
	require.NoError(t, w.Ticket(ctx, name, id, v1beta2.AttacherSnapshot, near, owner))
	require.NoError(t, w.Wait(ctx, "the end of the ticket", patience, noTicket(name, id)))
	require.NoError(t, w.WaitDetached(ctx, name, patience))
}
