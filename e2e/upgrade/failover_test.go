//go:build !fast

package upgrade

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// failedOver is a volume whose target is on the far node, which is partitioned and down, and is requested on the third one, with a fault.
func failedOver(t *testing.T, volume string, fault world.Fault) *executor {
	t.Helper()
	h := attached(t, volume)
	h.within = 2 * time.Minute
	h.moves(scenarios.Far)
	require.NoError(t, h.Inject(h.ctx, fault))
	require.NoError(t, h.CutNode(h.ctx, scenarios.Far))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Far, v1beta2.ConditionFalse, patience))
	require.NoError(t, status.MergeSpec(h.ctx, h.Admin, h.own(volume, &v1beta2.Volume{}), map[string]any{"targetNodeID": scenarios.Third}))
	return h
}

// frontend waits until the volume's only frontend matches.
func (h *executor) frontend(what string, check func(*v1beta2.EngineFrontend) bool) {
	h.t.Helper()
	h.waits("the frontend "+what, func() (string, error) {
		var list v1beta2.EngineFrontendList
		if err := h.List(h.ctx, &list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(h.volume)}); err != nil {
			return "", err
		}
		if len(list.Items) == 1 && check(&list.Items[0]) {
			return "", nil
		}
		state := "there is none"
		for _, f := range list.Items {
			state = fmt.Sprintf("it is %s and leads to %s, requested is %s; spec %+v", f.Status.CurrentState, f.Status.ActivePath,
				f.Spec.EngineName, f.Spec)
		}
		return state, nil
	})
}

// engineOn is the name of the volume's engine on a node.
func (h *executor) engineOn(node string) (name string) {
	h.t.Helper()
	h.waits("an engine on "+node, func() (string, error) {
		var list v1beta2.EngineList
		err := h.List(h.ctx, &list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(h.volume)})
		for _, e := range list.Items {
			if e.Spec.NodeID == node && e.Status.CurrentState == v1beta2.InstanceStateRunning {
				name = e.Name
				return "", err
			}
		}
		return "none runs there", err
	})
	return name
}

// U4, UPG-1: a target fails over, and its node is back at the moment in which the frontend switches to the next target: after the
// decision, and before the switch. Writes that the old target acknowledged meanwhile would be only in its own replica. The test delays
// the move until the old target serves again, and no controller runs that could reverse it.
func TestNoWriteOfTheOldTargetIsLostInAFailOver(t *testing.T) {
	h := failedOver(t, "givenup", world.Fault{Kind: "error", Code: "Unavailable", Method: switchOver, Node: scenarios.Near,
		DataEngine: "v2"})
	next := h.engineOn(scenarios.Third)
	h.frontend("to be requested to switch", func(f *v1beta2.EngineFrontend) bool { return f.Spec.EngineName == next })
	controller := h.Process("attach-controller")
	controller.Kill()
	require.NoError(t, h.JoinNode(h.ctx, scenarios.Far))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Far, v1beta2.ConditionTrue, patience))
	h.engineOn(scenarios.Far)
	require.NoError(t, h.Heal(h.ctx))
	h.frontend("to leave", func(f *v1beta2.EngineFrontend) bool {
		paths := f.Status.Paths
		return f.Status.SwitchoverPhase == "" && len(paths) > 0 && paths[len(paths)-1].EngineName == next
	})
	require.NoError(t, controller.Restart())
	h.frontend("to resume I/O", func(f *v1beta2.EngineFrontend) bool { return f.Status.CurrentState == v1beta2.InstanceStateRunning })
	h.moves("")
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
	h.end()
}

// U4: the node is back before the frontend is proven to be fenced from it: no replica was marked failed, and the target moves with a
// normal switchover. The condition reports why the volume waits.
func TestATargetThatIsBackBeforeItsFrontendIsFencedServesAgain(t *testing.T) {
	h := failedOver(t, "backintime", world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceSuspend", Node: scenarios.Near,
		DataEngine: "v2"})
	require.NoError(t, h.WaitVolume(h.ctx, h.volume, "to report that all I/O is suspended", patience, func(v *v1beta2.Volume) string {
		state := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
		if state != nil && strings.Contains(state.Message, "All I/O is being suspended: node "+scenarios.Far+
			" is down, and the volume fails over from the target there; the suspension was requested") {
			return ""
		}
		return "it reports " + world.FormatConditions(v.Status.Conditions)
	}))
	replicas, err := h.ReplicasOf(h.ctx, h.volume)
	require.NoError(t, err)
	for _, r := range replicas {
		require.Empty(t, r.Spec.FailedAt, "no replica is marked failed before the fence")
	}
	require.NoError(t, h.JoinNode(h.ctx, scenarios.Far))
	require.NoError(t, h.WaitNode(h.ctx, scenarios.Far, v1beta2.ConditionTrue, patience))
	require.NoError(t, h.Heal(h.ctx))
	h.moves(scenarios.Third)
	h.frontend("to resume I/O", func(f *v1beta2.EngineFrontend) bool { return f.Status.CurrentState == v1beta2.InstanceStateRunning })
	h.moves("")
	require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
	h.end()
}
