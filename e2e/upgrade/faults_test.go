//go:build !fast

package upgrade

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

const switchOver = "InstanceSwitchOverTarget"

// U4, UPG-3: a phase of a move fails: the workload continues, and the target moves.
func TestAMoveSurvivesAFailureInEachPhase(t *testing.T) {
	for name, fault := range map[string]world.Fault{
		"declined": {Kind: "error", Code: "FailedPrecondition", Method: switchOver, Node: scenarios.Near, DataEngine: "v2", Times: 2},
		"unheard": {Kind: "error", Code: "Unavailable", Method: switchOver, Node: scenarios.Near, DataEngine: "v2", Times: 3,
			After: true},
		"slow":      {Kind: "latency", Delay: "400ms", Method: switchOver, Node: scenarios.Near, DataEngine: "v2"},
		"unstarted": {Kind: "fail-create", Node: scenarios.Far, DataEngine: "v2", Names: []string{"unstarted-e-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := attached(t, name)
			require.NoError(t, h.Inject(h.ctx, fault))
			h.moves(scenarios.Far, func() {
				if name == "unstarted" {
					h.fails(name + "-e-1")
					require.NoError(t, h.Heal(h.ctx))
				}
			})
			h.moves("")
			require.NoError(t, h.Heal(h.ctx))
			h.end()
		})
	}
}

// fails waits until an engine has failed.
func (h *executor) fails(engine string) {
	h.t.Helper()
	h.waits(engine+" to fail", func() (string, error) {
		e := &v1beta2.Engine{}
		err := h.Get(h.ctx, engine, e)
		if err == nil && e.Status.CurrentState == v1beta2.InstanceStateError {
			return "", nil
		}
		return "it is " + e.Status.CurrentState, client.IgnoreNotFound(err)
	})
}

// U4: the instance manager of the temporary node ends, and its engine with it: another engine replaces it under the frontend, and the
// volume stays attached. Its replica there is rebuilt.
func TestARelocatedTargetIsCreatedAgainWhenItsInstanceManagerEnds(t *testing.T) {
	h := attached(t, "again")
	h.moves(scenarios.Far)
	require.NoError(t, h.RestartManager(h.ctx, scenarios.Far, "v2"))
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessDegraded, patience))
	h.moves("")
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
	h.within = 30 * time.Second
	h.end()
}

// U4: the node of the target dies, and the target is requested on another node: the workload waits for that, and loses no write. The
// instances of the dead node are stale once it is back.
func TestATargetLeavesANodeThatDied(t *testing.T) {
	h := attached(t, "dying")
	h.moves(scenarios.Far)
	require.NoError(t, h.CutNode(h.ctx, scenarios.Far))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Far, v1beta2.ConditionFalse, patience))
	require.NoError(t, status.MergeSpec(h.ctx, h.Admin, h.own(h.volume, &v1beta2.Volume{}),
		map[string]any{"targetNodeID": scenarios.Third}))
	require.NoError(t, h.WaitVolume(h.ctx, h.volume, "to have its target on "+scenarios.Third, patience, func(v *v1beta2.Volume) string {
		if v.Status.CurrentTargetNodeID == scenarios.Third && v.Status.Robustness == v1beta2.VolumeRobustnessDegraded {
			return ""
		}
		return "it is on " + v.Status.CurrentTargetNodeID
	}))
	require.NoError(t, h.JoinNode(h.ctx, scenarios.Far))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Far, v1beta2.ConditionTrue, patience))
	h.moves("")
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
	h.within = time.Minute
	h.end()
}

// U5, ALL-2: a controller dies in the middle of each move in both directions; its successor completes the move.
func TestATargetMovesWhileControllersDie(t *testing.T) {
	h := attached(t, "crashes")
	for n, name := range []string{"attach-controller", "im-monitor", "attach-controller", "im-monitor"} {
		dies := time.AfterFunc(time.Duration(n+1)*120*time.Millisecond, h.Process(name).Kill)
		h.moves(map[bool]string{true: scenarios.Far, false: ""}[n%2 == 0], func() {
			<-h.Process(name).Done()
			require.NoError(t, h.Process(name).Restart())
		})
		dies.Stop()
	}
	h.within = 30 * time.Second
	h.end()
}
