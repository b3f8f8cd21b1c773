//go:build !fast

package endtoend

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// U5: a controller dies in any step: the volumes continue and the upgrade ends.
func TestControllersDieInTheMiddle(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("living", near)
	s.StartChecker()
	s.Ordered("dying", fixture.Image("fourth"), near)
	later := []string{
		v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas, v1beta2.UpgradeStateUpgradingInstanceManager,
		v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica, v1beta2.UpgradeStateCompleted,
	}
	for i, dies := range []string{world.UpgradeController, world.AttachController, world.IMMonitor, world.UpgradeController} {
		s.Node("dying", near, later[i:]...)
		require.NoError(t, s.Process(dies).Crash())
	}
	s.Reaches("dying", v1beta2.UpgradeStateCompleted)
	s.Done()
}

// U6: an upgrade that is deleted while targets are relocated switches them back.
func TestADeletedUpgradeSwitchesTargetsBack(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("homing", near)
	s.StartChecker()
	s.Ordered("deleted", fixture.Image("fifth"), near)
	s.Node("deleted", near, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas)
	m := &v1beta2.DataEngineUpgradeManager{}
	require.NoError(t, s.Get(s.Ctx, "deleted", m))
	require.NoError(t, s.Admin.Delete(s.Ctx, m))
	require.NoError(t, s.Wait(s.Ctx, "the upgrade to end", fixture.Patience, func(ctx context.Context) (string, error) {
		err := s.Get(ctx, "deleted", m)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return world.FormatConditions(m.Status.Conditions), err
	}))
	v := &v1beta2.Volume{}
	require.NoError(t, s.Get(s.Ctx, "homing", v))
	require.Empty(t, v.Spec.TargetNodeID)
	s.Done()
}

// U6: pause stops the upgrade between two nodes, and it continues later; a changed setting does not change the image of a started
// upgrade; abort ends it and keeps the upgraded nodes.
func TestAPausedUpgradeWaitsAndAnAbortedOneEnds(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("pausing", near)
	s.StartChecker()
	s.Ordered("paused", fixture.Image("sixth"), third, near, far)
	s.Node("paused", third, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateUpgradingInstanceManager)
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "paused", map[string]any{"paused": true}))
	require.NoError(t, s.Set(s.Ctx, world.ImageSetting, fixture.Image("seventh")))
	m := s.Reaches("paused", v1beta2.UpgradeStatePaused)
	require.Equal(t, []string{third}, m.Status.UpgradedNodes, "the upgrade of the node in progress was completed")
	require.Equal(t, fixture.Image("sixth"), m.Status.InstanceManagerImage)
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "paused", map[string]any{"paused": false}))
	s.Node("paused", near, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas)
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "paused", map[string]any{"abort": true}))
	m = s.Reaches("paused", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "aborted")
	s.Done()
}
