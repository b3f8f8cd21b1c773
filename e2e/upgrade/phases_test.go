//go:build !fast

package upgrade

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// V1, U4: im-monitor, the frontend's server or the new engine ends during each phase of a switchover. The target still moves, with
// every acknowledged write; where the old target was closed already, it is opened again first.
func TestASwitchOverSurvivesADeathInEachPhase(t *testing.T) {
	victims := map[string]func(h *executor, s v1beta2.SwitchoverStatus){
		"imm": func(h *executor, _ v1beta2.SwitchoverStatus) {
			require.NoError(h.t, h.Process(world.IMMonitor).Crash())
		},
		"server": func(h *executor, _ v1beta2.SwitchoverStatus) {
			require.NoError(h.t, h.RestartManager(h.ctx, scenarios.Near, v1beta2.DataEngineV2))
		},
		"engine": func(h *executor, s v1beta2.SwitchoverStatus) {
			require.NoError(h.t, h.KillInstance(h.ctx, scenarios.Third, s.EngineName))
		},
	}
	for name, kill := range victims {
		for _, phase := range []string{v1beta2.SwitchoverPreparing, v1beta2.SwitchoverSwitching, v1beta2.SwitchoverPromoting} {
			t.Run(name+"/"+phase, func(t *testing.T) {
				h := attached(t, name+"-"+phase)
				h.moves(scenarios.Far) // so that the frontend's server has neither engine
				require.NoError(t, h.Inject(h.ctx,
					world.Fault{Kind: "latency", Delay: "500ms", Method: switchOver, Node: scenarios.Near, DataEngine: "v2"}))
				h.moves(scenarios.Third, func() {
					kill(h, h.reaches(phase))
					require.NoError(t, h.Heal(h.ctx))
				})
				h.moves("")
				require.NoError(t, h.WaitRobust(h.ctx, h.volume, v1beta2.VolumeRobustnessHealthy, patience))
				h.within = time.Minute
				h.end()
			})
		}
	}
}

// reaches waits until a phase of a switchover has begun and returns its object.
func (h *executor) reaches(phase string) v1beta2.SwitchoverStatus {
	h.t.Helper()
	f := &v1beta2.EngineFrontend{}
	h.waits("the switch-over to be "+phase, func() (string, error) {
		err := h.Get(h.ctx, h.volume+"-ef-0", f)
		if err == nil && f.Status.SwitchoverPhase == phase && !f.Status.Switchover.Accepted {
			return "", nil
		}
		return "it is " + f.Status.SwitchoverPhase, err
	})
	return f.Status.Switchover
}

// A switchover that is cancelled during a phase leads back: the volume's target is the old engine again, with every write.
func TestASwitchOverThatIsCancelledInEachPhaseLeadsBack(t *testing.T) {
	for _, phase := range []string{v1beta2.SwitchoverPreparing, v1beta2.SwitchoverSwitching, v1beta2.SwitchoverPromoting} {
		t.Run(phase, func(t *testing.T) {
			h := attached(t, "back-"+phase)
			h.moves(scenarios.Far)
			require.NoError(t, h.Inject(h.ctx, world.Fault{Kind: "latency", Delay: "500ms", Method: switchOver, Node: scenarios.Near,
				DataEngine: "v2"}))
			require.NoError(t, status.MergeSpec(h.ctx, h.Admin, h.own(h.volume, &v1beta2.Volume{}),
				map[string]any{"targetNodeID": scenarios.Third}))
			h.reaches(phase)
			h.moves(scenarios.Far, func() { require.NoError(t, h.Heal(h.ctx)) })
			h.moves("")
			h.within = 30 * time.Second
			h.end()
		})
	}
}
