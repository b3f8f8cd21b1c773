package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func isFailed(r *v1beta2.Replica) bool { return r.Spec.FailedAt != "" }

func mapped(names ...string) func(*v1beta2.Engine) bool {
	return func(e *v1beta2.Engine) bool {
		for _, name := range names {
			if e.Spec.ReplicaAddressMap[name] == "" {
				return false
			}
		}
		return len(e.Spec.ReplicaAddressMap) == len(names)
	}
}

// bothEngines runs a scenario for each data engine.
func bothEngines(t *testing.T, scenario func(t *testing.T, dataEngine string)) {
	for _, dataEngine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		t.Run(dataEngine, func(t *testing.T) {
			t.Parallel()
			scenario(t, dataEngine)
		})
	}
}

// A7.
func TestANodeGoesDownWhileTheVolumeIsAttachedThere(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.attached(dataEngine, "node-3")
		w.down("node-3")
		w.robustness(v, v1beta2.VolumeRobustnessUnknown)
		require.Equal(t, "node-3", w.reaches(v, v1beta2.VolumeStateAttached, "node-3").Status.CurrentNodeID,
			"tickets decide on the attachment")
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.wanted(v, "node-1")
		w.reaches(v, v1beta2.VolumeStateAttached, "node-1")
		w.robustness(v, v1beta2.VolumeRobustnessHealthy)
		w.ready("node-3")
		w.quiet(p)
		w.reaches(v, v1beta2.VolumeStateAttached, "node-1")
		for _, name := range []string{"r-1", "r-2"} {
			w.theReplica(name, "never failed", func(r *v1beta2.Replica) bool { return r.Spec.LastFailedAt == "" })
		}
	})
}

// A7, and what a node that is down may have written cannot be known.
func TestAReplicaOnTheNodeThatWentDownHasFailed(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-1")
		w.down("node-1")
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.theReplica("r-1", "failed", isFailed)
		w.wanted(v, "node-2")
		w.reaches(v, v1beta2.VolumeStateAttached, "node-2")
		w.robustness(v, v1beta2.VolumeRobustnessDegraded)
		w.engine(vol+"-e-0", "only r-2", mapped("r-2"))
		w.once("ReplicaFailed", "Degraded", "Detached")
	})
}

// A7.
func TestANodeGoesDownWhileTheVolumeIsBeingAttachedThere(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.placed(dataEngine)
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
		w.wanted(v, "node-1")
		w.reaches(v, v1beta2.VolumeStateAttaching, "")
		w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonWaitingForEngine)
		w.down("node-1")
		said := w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonNodeDown)
		require.Contains(t, said.Message, "node-1")
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = false })
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.wanted(v, "node-2")
		w.reaches(v, v1beta2.VolumeStateAttached, "node-2")
		w.engine(vol+"-e-0", "only r-2", mapped("r-2"))
		w.theReplica("r-1", "failed", isFailed)
	})
}

// A7.
func TestANodeGoesDownWhileTheVolumeIsBeingDetached(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-3")
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetaching, "node-3")
		w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonWaitingForEngine)
		w.down("node-3")
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = false })
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		for _, name := range []string{"r-1", "r-2"} {
			w.theReplica(name, "never failed", func(r *v1beta2.Replica) bool { return r.Spec.FailedAt == "" })
		}
	})
}

func TestWithNoReplicaInReachADetachedVolumeWaitsAndNamesTheNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.down("node-1")
	w.down("node-2")
	w.wanted(v, "node-3")
	said := w.says(v, v1beta2.VolumeAttached, v1beta2.ReasonNoUsableReplica)
	require.Contains(t, said.Message, "r-1")
	require.Contains(t, said.Message, "node-1")
	w.quiet(p)
	w.ready("node-2")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	w.theReplica("r-1", "failed", isFailed)
}

// A9.
func TestAReplicaThatTheEngineDropsFailsAndLeavesTheEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.modes["r-1"] = v1beta2.ReplicaModeERR })
	w.robustness(v, v1beta2.VolumeRobustnessDegraded)
	r := w.theReplica("r-1", "failed and stopped", func(r *v1beta2.Replica) bool {
		return isFailed(r) && r.Spec.LastFailedAt != "" && r.Spec.DesireState == v1beta2.InstanceStateStopped
	})
	require.NotEmpty(t, r.Spec.HealthyAt)
	w.engine(vol+"-e-0", "only r-2", mapped("r-2"))
	w.quiet(p)
	w.once("ReplicaFailed", "Degraded")

	// The last one never fails: nothing would be left to continue from.
	w.plane.change(func(p *plane) { p.modes["r-2"] = v1beta2.ReplicaModeERR })
	w.engine(vol+"-e-0", "r-2 dropped", func(e *v1beta2.Engine) bool { return e.Status.ReplicaModeMap["r-2"] == v1beta2.ReplicaModeERR })
	w.robustness(v, v1beta2.VolumeRobustnessFaulted)
	w.quiet(p)
	w.theReplica("r-2", "not failed", func(r *v1beta2.Replica) bool { return r.Spec.FailedAt == "" })
}

func TestAReplicaThatCannotStartIsFailedAndTheOthersContinue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.change(func(p *plane) { p.broken["r-1"] = true })
	w.start()
	v := w.placed(v1beta2.DataEngineV1)
	w.wanted(v, "node-3")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
	w.theReplica("r-1", "failed", isFailed)
	w.robustness(v, v1beta2.VolumeRobustnessDegraded)
	w.once("ReplicaFailed", "Attached")
}

func TestWhenNoReplicaCanStartTheVolumeIsFaulted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plane.change(func(p *plane) { p.broken["r-1"], p.broken["r-2"] = true, true })
	p := w.start()
	v := w.placed(v1beta2.DataEngineV1)
	w.wanted(v, "node-3")
	w.robustness(v, v1beta2.VolumeRobustnessFaulted)
	w.quiet(p)
	w.plane.change(func(p *plane) { p.broken = map[string]bool{} })
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.robustness(v, v1beta2.VolumeRobustnessUnknown)
	w.wanted(v, "node-3")
	w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
}

// An instance of which nothing is known may still write.
func TestNothingOpensWhileAnEngineIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.wanted(v, "")
	w.reaches(v, v1beta2.VolumeStateDetached, "")
	w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
	w.status(&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}, map[string]any{"currentState": v1beta2.InstanceStateUnknown})
	w.wanted(v, "node-1")
	w.quiet(p)
	w.engine(vol+"-e-0", "still stopped", func(e *v1beta2.Engine) bool { return e.Spec.DesireState == v1beta2.InstanceStateStopped })
	w.plane.change(func(p *plane) { p.still = map[string]bool{} })
	w.reaches(v, v1beta2.VolumeStateAttached, "node-1")
}
