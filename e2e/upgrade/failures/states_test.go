//go:build !fast

package failures

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

const near, far, third = scenarios.Near, scenarios.Far, scenarios.Third

// failure is a failure in one state of the near node's upgrade, for longer than the timeout of that state.
type failure struct {
	state string
	// inject causes the failure before the upgrade begins.
	inject func(*fixture.Scenario, string) error
	// message is part of the error message, or the reason of the wait.
	message string
}

func fault(f world.Fault) func(*fixture.Scenario, string) error {
	return func(s *fixture.Scenario, _ string) error { return s.Inject(s.Ctx, f) }
}

// U4: a failure before the instance manager is replaced rolls the upgrade back and is reported; a change of the spec resumes
// the upgrade once the cause is gone.
func TestAFailureBeforeTheReplacementIsRolledBackAndResumed(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("back", near)
	s.StartChecker()
	for name, f := range map[string]failure{
		"nosnapshot": {state: v1beta2.UpgradeStateInitializing, message: "snapshot",
			inject: fault(world.Fault{Kind: "error", Code: "Unavailable", Method: "VolumeSnapshot"})},
		"notarget": {state: v1beta2.UpgradeStateSwitchingOver, message: "Volume back: its target goes to node",
			inject: func(s *fixture.Scenario, _ string) error {
				for _, node := range []string{far, third} {
					if err := s.Inject(s.Ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceCreate", Node: node,
						DataEngine: "v2"}); err != nil {
						return err
					}
				}
				return nil
			}},
		"nostop": {state: v1beta2.UpgradeStateDetachingReplicas, message: "leaves its engine and stops",
			inject: fault(world.Fault{Kind: "error", Code: "Unavailable", Method: "ReplicaRemove"})},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			require.NoError(t, f.inject(s, name))
			s.OrderedSo(name, fixture.Image(name), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
				spec.Nodes, spec.Timeouts = []string{near}, map[string]v1beta2.StateTimeout{f.state: "3s"}
			})
			s.Node(name, near, v1beta2.UpgradeStateRollingBack, v1beta2.UpgradeStateError)
			require.NoError(t, s.Heal(s.Ctx))
			m := s.Reaches(name, v1beta2.UpgradeStateError)
			require.Contains(t, m.Status.ErrorMessage, "Rolled back from state "+f.state)
			require.Contains(t, m.Status.ErrorMessage, f.message)
			s.Open()
			require.NoError(t, s.WaitRobust(s.Ctx, "back", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
			require.NoError(t, s.ChangeUpgrade(s.Ctx, name, map[string]any{"timeouts": nil}))
			m = s.Reaches(name, v1beta2.UpgradeStateCompleted)
			require.Equal(t, []string{near}, m.Status.UpgradedNodes)
		})
	}
	s.T = t
	s.Done()
}

// U4: after the instance manager is replaced the upgrade only goes forward: a late step reports that and why, and continues
// once the cause is gone.
func TestAFailureAfterTheReplacementIsNotRolledBack(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("forward", near)
	s.StartChecker()
	for name, f := range map[string]failure{
		// The new instance manager's pod runs, but cannot be reached.
		"nomanager": {state: v1beta2.UpgradeStateUpgradingInstanceManager, message: v1beta2.ReasonWaitingForInstanceManager,
			inject: func(s *fixture.Scenario, name string) error {
				return s.Inject(s.Ctx, world.Fault{Kind: "partition", Mode: "cut",
					Pod: v1beta2.InstanceManagerName(near, fixture.Image(name), v1beta2.DataEngineV2)})
			}},
		// The target cannot be switched back: no engine starts there.
		"nohome": {state: v1beta2.UpgradeStateSwitchingBack, message: v1beta2.ReasonWaitingForTarget,
			inject: fault(world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceCreate", Node: near, DataEngine: "v2"})},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			require.NoError(t, f.inject(s, name))
			s.OrderedSo(name, fixture.Image(name), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
				spec.Nodes, spec.Timeouts = []string{near}, map[string]v1beta2.StateTimeout{f.state: "2s"}
			})
			require.NoError(t, s.WaitNodeUpgrade(s.Ctx, name, near, "to be stalled", fixture.Patience,
				func(u *v1beta2.NodeDataEngineUpgrade) string {
					if u.Status.State == f.state && conditions.IsTrue(u.Status.Conditions, v1beta2.UpgradeStalled) &&
						conditions.Reason(u.Status.Conditions, v1beta2.UpgradeProgressing) == f.message {
						return ""
					}
					return "it is not stalled there"
				}))
			require.NoError(t, s.WaitMetric(s.Ctx, world.UpgradeController, "node_stalled", map[string]string{"node": near},
				fixture.Patience))
			require.NoError(t, s.Heal(s.Ctx))
			s.Reaches(name, v1beta2.UpgradeStateCompleted)
			s.Open()
		})
	}
	s.T = t
	s.Done()
}

// U4: a replica is never rebuilt. The node is upgraded and uncordoned; the upgrade ends in state error, with the
// reason, and is resumed.
func TestAReplicaThatIsNeverRebuiltEndsInErrorAndIsResumed(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("copying", near)
	s.StartChecker()
	require.NoError(t, s.HoldCopies(s.Ctx, "copying"))
	s.OrderedSo("norebuild", fixture.Image("norebuild"), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
		spec.Nodes, spec.Timeouts = []string{near}, map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateRebuildingReplica: "3s"}
	})
	m := s.Reaches("norebuild", v1beta2.UpgradeStateError)
	// The time of one per cent of a volume of 1 GiB at the slowest pace is longer than the timeout.
	require.Contains(t, m.Status.ErrorMessage, "The node is upgraded, but no rebuild progressed for 10s. Volume copying: its robustness is "+
		"\"degraded\"")
	s.Open()
	require.NoError(t, s.ReleaseCopies(s.Ctx, "copying", 0))
	require.NoError(t, s.WaitRobust(s.Ctx, "copying", v1beta2.VolumeRobustnessHealthy, fixture.Patience))
	require.NoError(t, s.ChangeUpgrade(s.Ctx, "norebuild", map[string]any{"timeouts": nil}))
	s.Reaches("norebuild", v1beta2.UpgradeStateCompleted)
	s.Done()
}

// U4: the temporary node of the target dies. Another one replaces it, and the upgrade continues to its end.
func TestATemporaryNodeThatDiesIsReplacedByAnother(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("orphaned", near)
	s.StartChecker()
	// The upgrade waits while the near node's replica does not leave its engine.
	require.NoError(t, s.Inject(s.Ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "ReplicaRemove"}))
	s.Ordered("dies", fixture.Image("dies"), near)
	s.Node("dies", near, v1beta2.UpgradeStateDetachingReplicas)
	first := temporary(s, "dies", "orphaned")
	require.Contains(t, []string{far, third}, first)
	s.Checker.Excuse("orphaned")
	require.NoError(t, s.CutNode(s.Ctx, first))
	require.NoError(t, s.WaitNodeUpgrade(s.Ctx, "dies", near, "to have another temporary node", fixture.Patience,
		func(u *v1beta2.NodeDataEngineUpgrade) string {
			if at := u.Status.Volumes["orphaned"].TemporaryNodeID; at == first || at == "" {
				return "it is still " + at
			}
			return ""
		}))
	require.NoError(t, s.WaitVolume(s.Ctx, "orphaned", "to have its target elsewhere", fixture.Patience, func(v *v1beta2.Volume) string {
		if at := v.Status.CurrentTargetNodeID; at == first || at == "" {
			return "it is still on " + at
		}
		return ""
	}))
	require.NoError(t, s.JoinNode(s.Ctx, first))
	require.NoError(t, s.WaitNode(s.Ctx, first, v1beta2.ConditionTrue, fixture.Patience))
	require.NoError(t, s.Heal(s.Ctx))
	s.Reaches("dies", v1beta2.UpgradeStateCompleted)
	s.Done()
}

// temporary is the temporary node of the volume's target.
func temporary(s *fixture.Scenario, upgrade, volume string) string {
	s.T.Helper()
	u := &v1beta2.NodeDataEngineUpgrade{}
	require.NoError(s.T, s.Get(s.Ctx, world.NodeUpgrade(upgrade, near), u))
	return u.Status.Volumes[volume].TemporaryNodeID
}
