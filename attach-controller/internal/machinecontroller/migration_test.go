package machinecontroller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/testkit"
)

// migrating has both sides up: the volume is attached to node-3 and moves to node-2.
func (w *world) migrating(dataEngine string) *v1beta2.Volume {
	w.t.Helper()
	v := w.attached(dataEngine, "node-3")
	w.spec(v, map[string]any{"migrationNodeID": "node-2"})
	w.is(v, "migrating to node-2", func(v *v1beta2.Volume) bool { return v.Status.CurrentMigrationNodeID == "node-2" })
	e := w.engine(vol+"-e-1", "running on node-2", func(e *v1beta2.Engine) bool {
		return e.Spec.NodeID == "node-2" && e.Status.CurrentState == v1beta2.InstanceStateRunning
	})
	require.False(w.t, e.Spec.Active)
	if dataEngine == v1beta2.DataEngineV2 {
		require.True(w.t, mapped("r-1", "r-2")(e))
	} else {
		w.ownProcesses(e)
	}
	if dataEngine == v1beta2.DataEngineV2 {
		w.frontend(vol+"-ef-1", "running on node-2", func(f *v1beta2.EngineFrontend) bool {
			return f.Spec.NodeID == "node-2" && f.Spec.EngineName == e.Name && f.Spec.TargetPort == e.Status.Port &&
				f.Status.CurrentState == v1beta2.InstanceStateRunning
		})
	}
	return w.reaches(v, v1beta2.VolumeStateAttached, "node-3")
}

// ownProcesses requires that a v1 engine runs over processes of its own (K1).
func (w *world) ownProcesses(e *v1beta2.Engine) {
	w.t.Helper()
	require.Len(w.t, e.Spec.ReplicaAddressMap, 2)
	for name := range e.Spec.ReplicaAddressMap {
		require.NotContains(w.t, []string{"r-1", "r-2"}, name)
		w.theReplica(name, "a second process of "+e.Name, func(r *v1beta2.Replica) bool {
			return v1beta2.IsSecondProcess(r) && r.Spec.EngineName == e.Name && r.Status.UUID != ""
		})
	}
}

// onlyCopies waits until the volume has exactly the active replicas of its engine, all with their data.
func (w *world) onlyCopies(engine string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		var list v1beta2.ReplicaList
		require.NoError(w.t, w.admin.List(w.t.Context(), &list, clientIn(w)))
		for _, r := range list.Items {
			if !r.Spec.Active || r.Spec.EngineName != engine || r.Spec.HealthyAt == "" || r.Spec.FailedAt != "" {
				return false
			}
		}
		return len(list.Items) == 2
	}, patience, poll, "two replicas of %s", engine)
}

// left waits until what ran beside is gone.
func (w *world) left(dataEngine, number string) {
	w.t.Helper()
	testkit.WaitGone(w.t, w.admin, &v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-" + number)})
	if dataEngine == v1beta2.DataEngineV2 {
		testkit.WaitGone(w.t, w.admin, &v1beta2.EngineFrontend{ObjectMeta: w.meta(vol + "-ef-" + number)})
	}
}

func (w *world) settled(v *v1beta2.Volume, node string) {
	w.t.Helper()
	w.is(v, "attached to "+node+" alone", func(v *v1beta2.Volume) bool {
		return v.Status.State == v1beta2.VolumeStateAttached && v.Status.CurrentNodeID == node && v.Status.CurrentMigrationNodeID == ""
	})
	w.robustness(v, v1beta2.VolumeRobustnessHealthy)
}

// A10.
func TestAMigrationIsConfirmed(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.migrating(dataEngine)
		w.quiet(p)
		w.spec(v, map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
		w.settled(v, "node-2")
		w.left(dataEngine, "0")
		w.engine(vol+"-e-1", "active", func(e *v1beta2.Engine) bool { return e.Spec.Active })
		w.onlyCopies(vol + "-e-1")
		w.quiet(p)
		w.once("Migrated", "Attached")
		require.Zero(t, w.events("Detached"))
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.wanted(v, "node-1")
		w.settled(v, "node-1")
	})
}

// A10.
func TestAMigrationIsRolledBack(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.migrating(dataEngine)
		w.spec(v, map[string]any{"migrationNodeID": ""})
		w.left(dataEngine, "1")
		w.settled(v, "node-3")
		w.onlyCopies(vol + "-e-0")
		w.quiet(p)
		require.Zero(t, w.events("Migrated"))
		for _, name := range []string{"r-1", "r-2"} {
			w.theReplica(name, "never failed", func(r *v1beta2.Replica) bool { return r.Spec.LastFailedAt == "" })
		}
	})
}

// A10: the second engine starts only after a poll of the first one that is newer than the request for it.
func TestTheSecondEngineWaitsForAPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start()
	v := w.attached(v1beta2.DataEngineV2, "node-3")
	w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
	w.spec(v, map[string]any{"migrationNodeID": "node-2"})
	w.engine(vol+"-e-0", "requested to be polled", func(e *v1beta2.Engine) bool { return e.Spec.LookRequestedAt != "" })
	w.quiet(p)
	var engines v1beta2.EngineList
	require.NoError(t, w.admin.List(t.Context(), &engines, clientIn(w)))
	require.Len(t, engines.Items, 1)
	w.plane.change(func(p *plane) {
		p.still, p.modes["r-1"] = map[string]bool{}, v1beta2.ReplicaModeERR
	})
	w.engine(vol+"-e-1", "over r-2 alone", mapped("r-2"))
}

// A10, M6: if the new side fails the volume is attached again.
func TestTheNewSideFailsWhileTheMigrationIsConfirmed(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.migrating(dataEngine)
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
		w.spec(v, map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
		w.plane.change(func(p *plane) { p.broken[vol+"-e-1"] = true })
		w.is(v, "detaching", func(v *v1beta2.Volume) bool { return v.Status.State == v1beta2.VolumeStateDetaching })
		w.plane.change(func(p *plane) { p.still, p.broken = map[string]bool{}, map[string]bool{} })
		w.settled(v, "node-2")
	})
}

// A10, M4 and M6: where the old side's node is lost, what its engine wrote last is not known.
func TestTheOldSidesNodeGoesDownWhileTheMigrationIsConfirmed(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.migrating(dataEngine)
		w.plane.change(func(p *plane) { p.still[vol+"-e-0"] = true })
		w.spec(v, map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
		w.down("node-3")
		w.is(v, "detaching", func(v *v1beta2.Volume) bool { return v.Status.State == v1beta2.VolumeStateDetaching })
		w.plane.change(func(p *plane) { p.still = map[string]bool{} })
		w.settled(v, "node-2")
	})
}

func TestTheTargetsNodeGoesDownAndTheMigrationIsRolledBack(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.attached(dataEngine, "node-2")
		w.spec(v, map[string]any{"migrationNodeID": "node-3"})
		w.engine(vol+"-e-1", "running", func(e *v1beta2.Engine) bool { return e.Status.CurrentState == v1beta2.InstanceStateRunning })
		w.down("node-3")
		w.spec(v, map[string]any{"migrationNodeID": ""})
		w.ready("node-3")
		w.left(dataEngine, "1")
		w.settled(v, "node-2")
	})
}

// Tickets may go from one target to another faster than anybody sees that there was none between.
func TestAMigrationThatGoesElsewhereEndsItsSecondSideFirst(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		w.start()
		v := w.migrating(dataEngine)
		w.spec(v, map[string]any{"migrationNodeID": "node-1"})
		w.is(v, "migrating to node-1", func(v *v1beta2.Volume) bool { return v.Status.CurrentMigrationNodeID == "node-1" })
		require.Eventually(t, func() bool {
			var list v1beta2.EngineList
			require.NoError(t, w.admin.List(t.Context(), &list, clientIn(w)))
			return len(list.Items) == 2 && slices.ContainsFunc(list.Items, func(e v1beta2.Engine) bool {
				return e.Spec.NodeID == "node-1" && e.Status.CurrentState == v1beta2.InstanceStateRunning
			})
		}, patience, poll, "an engine on node-1")
		w.spec(v, map[string]any{"nodeID": "node-1", "migrationNodeID": ""})
		w.settled(v, "node-1")
	})
}

// K1: a second engine that fails is reported with its reason, and the next one begins after a pause that a new leader keeps.
func TestASecondEngineThatFailsIsReportedAndTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	v := w.attached(v1beta2.DataEngineV1, "node-3")
	w.plane.change(func(p *plane) { p.broken[vol+"-e-1"] = true })
	w.spec(v, map[string]any{"migrationNodeID": "node-2"})
	w.is(v, "reported as failed", func(v *v1beta2.Volume) bool {
		attached := conditions.Get(v.Status.Conditions, v1beta2.VolumeAttached)
		return v.Status.MigrationFailure != nil && v.Status.MigrationFailure.Count == 1 &&
			strings.Contains(attached.Message, "which the migration started, has failed. The migration is tried again at")
	})
	w.once("MigrationFailed")
	w.stop()
	w.plane.change(func(p *plane) { p.broken = map[string]bool{} })
	w.start()
	w.engine(vol+"-e-1", "running on node-2 after the pause", func(e *v1beta2.Engine) bool {
		return e.Status.CurrentState == v1beta2.InstanceStateRunning
	})
	v = w.is(v, "still counted", func(v *v1beta2.Volume) bool { return v.Status.MigrationFailure.Count == 1 })
	next, err := time.Parse(time.RFC3339, v.Status.MigrationFailure.NextAttemptAt)
	require.NoError(t, err)
	require.False(t, time.Now().Before(next), "it began before the pause was over")
	w.spec(v, map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
	w.settled(v, "node-2")
	w.onlyCopies(vol + "-e-1")
	w.is(v, "not failing", func(v *v1beta2.Volume) bool { return v.Status.MigrationFailure == nil })
}
