//go:build !fast

package failures

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// U4, UPG-4: a rollback that cannot end. No data is lost and no manual cleanup is needed: the columns show which volume is not
// switched back and since when, the Engine shows why; once the cause is gone the node is uncordoned, the error message still has the
// cause of the rollback, and a change of the spec resumes the upgrade.
func TestAStuckRollbackIsReportedAndEndsWhenItsCauseIsGone(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("stuck", near)
	s.StartChecker()
	require.NoError(t, s.Inject(s.Ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "ReplicaRemove"}))
	require.NoError(t, s.Inject(s.Ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceCreate", Node: near,
		DataEngine: "v2"}))
	s.OrderedSo("stuck", fixture.Image("stuck"), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
		spec.Nodes = []string{near}
		spec.Timeouts = map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateDetachingReplicas: "3s", v1beta2.UpgradeStateRollingBack: "2s"}
	})
	require.NoError(t, s.Wait(s.Ctx, "the columns to show that the rollback is stuck", fixture.Patience,
		func(ctx context.Context) (string, error) {
			table, err := s.Table(ctx, "nodedataengineupgrades")
			if err != nil || len(rows(table, world.NodeUpgrade("stuck", near))) == 0 {
				return "nothing is listed", err
			}
			cell, line := columns(t, table, world.NodeUpgrade("stuck", near))
			for column, want := range map[string]string{"STATE": v1beta2.UpgradeStateRollingBack, "VOLUME": "stuck",
				"WHY": v1beta2.ReasonWaitingForTarget, "STALLED": "True"} {
				if got := cell(line, column); got != want {
					return fmt.Sprintf("%s is %s in\n%s", column, got, table), nil
				}
			}
			return "", nil
		}))
	require.NoError(t, s.WaitMetric(s.Ctx, world.UpgradeController, "node_stalled", map[string]string{"node": near}, fixture.Patience))
	closed := &v1beta2.Node{}
	require.NoError(t, s.Get(s.Ctx, near, closed))
	require.True(t, closed.Spec.UpgradeRequested, "the node stays cordoned while a volume's target is not switched back")
	require.NoError(t, s.Heal(s.Ctx))
	m := s.Reaches("stuck", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "Rolled back from state "+v1beta2.UpgradeStateDetachingReplicas)
	s.Open()
	require.NoError(t, s.WaitRobust(s.Ctx, "stuck", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "stuck", map[string]any{"timeouts": nil}))
	require.Equal(t, []string{near}, s.Reaches("stuck", v1beta2.UpgradeStateCompleted).Status.UpgradedNodes)
	s.Done()
}
