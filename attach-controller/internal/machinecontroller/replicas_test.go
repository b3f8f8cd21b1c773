package machinecontroller

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// A9: an added replica starts, joins the engine, and is healthy when it was rebuilt.
func TestAReplicaThatIsAddedIsRebuilt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.modes["r-1"], p.rebuilding = v1beta2.ReplicaModeERR, true })
	w.theReplica("r-1", "failed", isFailed)
	w.replica(v, "r-3", "node-3")
	w.engine(vol+"-e-0", "r-3 being rebuilt", func(e *v1beta2.Engine) bool {
		return mapped("r-2", "r-3")(e) && e.Status.ReplicaModeMap["r-3"] == v1beta2.ReplicaModeWO
	})
	w.quiet(p)
	r := w.theReplica("r-3", "running", func(r *v1beta2.Replica) bool { return r.Spec.DesireState == v1beta2.InstanceStateRunning })
	require.Empty(t, r.Spec.HealthyAt)
	w.robustness(v, v1beta2.VolumeRobustnessDegraded)
	w.plane.change(func(p *plane) { p.rebuilding = false })
	w.theReplica("r-3", "healthy", func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" && r.Spec.LastHealthyAt != "" })
	w.robustness(v, v1beta2.VolumeRobustnessHealthy)
	w.quiet(p)
	w.once("ReplicaRebuilt", "ReplicaFailed", "Degraded", "Healthy")
}

// A9: one that is used again is rebuilt like a new one.
func TestAReplicaThatReturnsIsRebuilt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.modes["r-1"] = v1beta2.ReplicaModeERR })
	w.theReplica("r-1", "failed and stopped", func(r *v1beta2.Replica) bool {
		return isFailed(r) && r.Status.CurrentState == v1beta2.InstanceStateStopped
	})
	w.plane.change(func(p *plane) { p.modes, p.rebuilding = map[string]string{}, true })
	w.spec(&v1beta2.Replica{ObjectMeta: w.meta("r-1")}, map[string]any{"failedAt": ""})
	w.theReplica("r-1", "not healthy yet", func(r *v1beta2.Replica) bool {
		return r.Spec.HealthyAt == "" && r.Spec.LastHealthyAt != "" && r.Spec.DesireState == v1beta2.InstanceStateRunning
	})
	w.engine(vol+"-e-0", "both", mapped("r-1", "r-2"))
	w.plane.change(func(p *plane) { p.rebuilding = false })
	w.theReplica("r-1", "healthy", func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" })
	w.robustness(v, v1beta2.VolumeRobustnessHealthy)
}

func TestAReplicaThatCannotStartForItsRebuildHasFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.broken["r-3"] = true })
	w.replica(v, "r-3", "node-3")
	w.theReplica("r-3", "failed and stopped", func(r *v1beta2.Replica) bool {
		return isFailed(r) && r.Spec.DesireState == v1beta2.InstanceStateStopped
	})
	w.quiet(p)
	w.engine(vol+"-e-0", "not r-3", mapped("r-1", "r-2"))
	w.robustness(v, v1beta2.VolumeRobustnessHealthy)
	w.once("ReplicaFailed")
}

// A15b: of two that are deleted at once the last copy stays until another one has the data.
func TestADeletedReplicaLeavesTheEngineOnlyIfAnotherOneStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.delete(&v1beta2.Replica{ObjectMeta: w.meta("r-1")})
	w.engine(vol+"-e-0", "only r-2", mapped("r-2"))
	w.delete(&v1beta2.Replica{ObjectMeta: w.meta("r-2")})
	w.quiet(p)
	w.engine(vol+"-e-0", "only r-2", mapped("r-2"))
	w.theReplica("r-2", "running", func(r *v1beta2.Replica) bool { return r.Spec.DesireState == v1beta2.InstanceStateRunning })
	w.replica(v, "r-3", "node-3")
	w.engine(vol+"-e-0", "only r-3", mapped("r-3"))
	testkit.WaitGone(t, w.admin, &v1beta2.Replica{ObjectMeta: w.meta("r-2")})
}

// A12.
func TestAnAttachedVolumeGrows(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.attached(dataEngine, "node-3")
		w.plane.change(func(p *plane) { p.growing = true })
		w.spec(v, map[string]any{"size": fmt.Sprint(2 * gib)})
		w.status(v, map[string]any{"acceptedSize": 2 * gib}) // the disks of its replicas have room
		w.engine(vol+"-e-0", "to grow", func(e *v1beta2.Engine) bool { return e.Spec.VolumeSize == 2*gib })
		w.is(v, "to be expanded", func(v *v1beta2.Volume) bool { return v.Status.ExpansionRequired })
		w.quiet(p)
		w.theReplica("r-1", "of the old size", func(r *v1beta2.Replica) bool { return r.Spec.VolumeSize == gib })
		w.plane.change(func(p *plane) { p.growing = false })
		for _, name := range []string{"r-1", "r-2"} {
			w.theReplica(name, "of the new size", func(r *v1beta2.Replica) bool { return r.Spec.VolumeSize == 2*gib })
		}
		w.is(v, "expanded", func(v *v1beta2.Volume) bool { return !v.Status.ExpansionRequired })
		if dataEngine == v1beta2.DataEngineV2 {
			w.frontend(vol+"-ef-0", "grown", func(f *v1beta2.EngineFrontend) bool { return f.Spec.Size == 2*gib })
		}
		w.quiet(p)
	})
}
