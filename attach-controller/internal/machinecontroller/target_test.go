package machinecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// target moves the volume's target as upgrade-controller does, and waits until the named engine is the only one.
func (w *world) target(node, engine string) {
	w.t.Helper()
	v := w.theVolume()
	w.spec(v, map[string]any{"targetNodeID": node})
	w.is(v, "with its target on "+node, func(v *v1beta2.Volume) bool { return v.Status.CurrentTargetNodeID == node })
	w.engine(engine, "active and alone", func(e *v1beta2.Engine) bool {
		var all v1beta2.EngineList
		return w.admin.List(w.t.Context(), &all, clientIn(w)) == nil && len(all.Items) == 1 && e.Spec.Active &&
			e.Status.CurrentState == v1beta2.InstanceStateRunning
	})
	w.frontend(vol+"-ef-0", "of "+engine, func(f *v1beta2.EngineFrontend) bool { return f.Spec.EngineName == engine })
}

// neverLost is UPG-3, and that the volume never was anything but attached.
func (w *world) neverLost() {
	w.t.Helper()
	w.plane.change(func(p *plane) { require.Empty(w.t, p.lost) })
	require.Zero(w.t, w.events("Detached")+w.events("Faulted"))
}

// upgrade writes upgrade-controller's state of a node.
func (w *world) upgrade(state string) {
	w.t.Helper()
	w.status(&v1beta2.NodeDataEngineUpgrade{ObjectMeta: w.meta("upgrade-node-1")}, map[string]any{"state": state,
		"volumes": map[string]any{vol: map[string]any{"replica": "r-1", "originalNodeID": "node-1"}}})
}

// around leads the volume, which is attached to node-1, around the upgrade of that node.
func (w *world) around() {
	w.t.Helper()
	v := w.theVolume()
	w.create(&v1beta2.NodeDataEngineUpgrade{ObjectMeta: w.meta("upgrade-node-1"), Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1",
		DataEngine: "v2", InstanceManagerImage: "image:new", DataEngineUpgradeManager: "upgrade"}})
	w.spec(&v1beta2.Node{ObjectMeta: w.meta("node-1")}, map[string]any{"upgradeRequested": true})
	w.upgrade(v1beta2.UpgradeStateSwitchingOver)
	w.target("node-3", vol+"-e-1")
	w.upgrade(v1beta2.UpgradeStateDetachingReplicas)
	w.engine(vol+"-e-1", "without r-1", mapped("r-2"))
	w.theReplica("r-1", "stopped", func(r *v1beta2.Replica) bool {
		return isFailed(r) && r.Status.CurrentState == v1beta2.InstanceStateStopped
	})
	w.robustness(v, v1beta2.VolumeRobustnessDegraded)
	w.upgrade(v1beta2.UpgradeStateUpgradingInstanceManager)
	w.upgrade(v1beta2.UpgradeStateSwitchingBack)
	w.target("", vol+"-e-2")
	w.is(v, "of the new image", func(v *v1beta2.Volume) bool {
		return v.Spec.Image == "image:new" && v.Status.CurrentImage == "image:new"
	})
	w.upgrade(v1beta2.UpgradeStateRebuildingReplica)
	w.takeBack("r-1")
	w.robustness(v, v1beta2.VolumeRobustnessHealthy)
	w.engine(vol+"-e-2", "over both", mapped("r-1", "r-2"))
	w.theReplica("r-1", "healthy", func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" })
}

// takeBack uses a replica again as who rebuilds replicas does, until it is healthy.
func (w *world) takeBack(name string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		r := &v1beta2.Replica{ObjectMeta: w.meta(name)}
		if w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(r), r) != nil {
			return false
		}
		if isFailed(r) && r.Spec.DesireState == v1beta2.InstanceStateStopped && r.Status.CurrentState == v1beta2.InstanceStateStopped {
			w.spec(r, map[string]any{"failedAt": "", "healthyAt": ""})
		}
		return !isFailed(r) && r.Spec.HealthyAt != ""
	}, patience, 10*poll, "%s never was rebuilt", name)
}

// U1, UPG-3.
func TestATargetMovesThereAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	w.attached(v1beta2.DataEngineV2, "node-3")
	w.quiet(p)
	w.target("node-2", vol+"-e-1")
	w.quiet(p)
	w.target("", vol+"-e-2")
	w.quiet(p)
	w.neverLost()
	w.once("Attached")
	for _, name := range []string{"r-1", "r-2"} {
		w.theReplica(name, "never failed", func(r *v1beta2.Replica) bool { return r.Spec.LastFailedAt == "" })
	}
	w.wanted(w.theVolume(), "")
	w.reaches(w.theVolume(), v1beta2.VolumeStateDetached, "")
	w.wanted(w.theVolume(), "node-1")
	w.settled(w.theVolume(), "node-1")
}

// U1, UPG-1, UPG-3.
func TestAVolumeIsLedAroundANodeThatIsUpgraded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	w.attached(v1beta2.DataEngineV2, "node-1")
	w.around()
	w.quiet(p)
	w.neverLost()
}

// UPG-3: the new engine does not come up, and the move is called off.
func TestAMoveToAnEngineThatFailsIsCalledOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV2, "node-3")
	w.plane.change(func(p *plane) { p.broken[vol+"-e-1"] = true })
	w.spec(v, map[string]any{"targetNodeID": "node-2"})
	w.engine(vol+"-e-1", "failed", func(e *v1beta2.Engine) bool { return e.Status.CurrentState == v1beta2.InstanceStateError })
	w.frontend(vol+"-ef-0", "where it was", func(f *v1beta2.EngineFrontend) bool { return f.Spec.EngineName == vol+"-e-0" })
	w.target("", vol+"-e-0")
	w.quiet(p)
	w.neverLost()
}
