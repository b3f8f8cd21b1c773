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

// U4, UPG-4: a roll back that cannot end. Nothing is lost and nothing has to be cleaned up by hand: the columns say which volume does not
// come home and since when, the engine's object why; once the cause is gone the node is opened, the error still tells what began it, and a
// change of the spec resumes the upgrade.
func TestARollBackThatIsStuckSaysSoAndEndsWhenItsCauseIsGone(t *testing.T) {
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
	require.NoError(t, s.Wait(s.Ctx, "the columns to say that the roll back is stuck", fixture.Patience,
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
	require.True(t, closed.Spec.UpgradeRequested, "it takes nothing new while a volume's target is not home")
	require.NoError(t, s.Heal(s.Ctx))
	m := s.Reaches("stuck", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "Gave up in state "+v1beta2.UpgradeStateDetachingReplicas)
	s.Open()
	require.NoError(t, s.WaitRobust(s.Ctx, "stuck", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "stuck", map[string]any{"timeouts": nil}))
	require.Equal(t, []string{near}, s.Reaches("stuck", v1beta2.UpgradeStateCompleted).Status.UpgradedNodes)
	s.Done()
}
