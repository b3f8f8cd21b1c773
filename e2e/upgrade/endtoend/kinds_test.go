//go:build !fast

package endtoend

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/shared/api/v1beta2"
)

// A volume that a share manager holds for pods on two nodes, and an encrypted one whose replicas have room for its header, are upgraded as
// any other: their targets are relocated and switched back while in use, and their replicas are rebuilt in their sizes.
func TestAnRWXAndAnEncryptedVolumeAreUpgradedUnderAWorkload(t *testing.T) {
	s := fixture.Begin(t)
	const shared, encrypted = "shared", "encrypted"
	require.NoError(t, s.Order(s.Ctx, shared, v1beta2.DataEngineV2, 3,
		func(spec *v1beta2.VolumeSpec) { spec.AccessMode = v1beta2.AccessModeReadWriteMany }))
	require.NoError(t, s.Ticket(s.Ctx, shared, "csi-a", v1beta2.AttacherCSI, near, nil))
	require.NoError(t, s.Ticket(s.Ctx, shared, "csi-b", v1beta2.AttacherCSI, far, nil))
	require.NoError(t, s.Share(s.Ctx, shared, near))
	require.NoError(t, s.WaitAttached(s.Ctx, shared, near, fixture.Patience))
	require.NoError(t, s.WaitRobust(s.Ctx, shared, v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	s.Written(shared)

	require.NoError(t, s.Order(s.Ctx, encrypted, v1beta2.DataEngineV2, 3, func(spec *v1beta2.VolumeSpec) { spec.Encrypted = true }))
	object := &v1beta2.Volume{}
	require.NoError(t, s.Get(s.Ctx, encrypted, object))
	require.NoError(t, s.Patch(s.Ctx, object,
		map[string]any{"metadata": map[string]any{"labels": map[string]string{v1beta2.LabelV2LUKSRoom: "true"}}}))
	require.NoError(t, s.Attach(s.Ctx, encrypted, near, fixture.Patience))
	require.NoError(t, s.WaitRobust(s.Ctx, encrypted, v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	s.Written(encrypted)

	s.StartChecker()
	s.Ordered("kinds", fixture.Image("kinds"), near, far)
	m := s.Reaches("kinds", v1beta2.UpgradeStateCompleted)
	require.Equal(t, []string{near, far}, m.Status.UpgradedNodes)
	require.Contains(t, m.Status.ExcludedNodes, third)
	for _, volume := range []string{shared, encrypted} {
		require.NoError(t, s.Get(s.Ctx, volume, object))
		require.Equal(t, near, object.Status.CurrentNodeID, "%s stays attached to the node of its users", volume)
		require.Empty(t, object.Spec.TargetNodeID, volume)
		require.NoError(t, s.WaitRobust(s.Ctx, volume, v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	}
	require.NoError(t, s.WaitTicket(s.Ctx, shared, v1beta2.TicketID(v1beta2.AttacherShareManager, shared), true, "", fixture.Patience))
	s.Let(shared)
	require.NoError(t, s.Verify(s.Ctx, shared))
	require.NoError(t, s.DropTicket(s.Ctx, shared, "csi-a"))
	require.NoError(t, s.DropTicket(s.Ctx, shared, "csi-b"))
	s.Gone(shared)
	s.Done()
}
