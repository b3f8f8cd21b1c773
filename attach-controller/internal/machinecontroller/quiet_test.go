package machinecontroller

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

// decisions is how many volumes were decided on so far.
func decisions(t *testing.T) int { return testkit.Reconciles(t, "volume") }

// crowd creates that many detached volumes, each with its replica on node-1, node-2 or node-3 in rotation, and waits for quiet.
func (w *world) crowd(volumes int) *shell.Process {
	w.t.Helper()
	p := w.start()
	for n := range volumes {
		v := w.volume(fmt.Sprintf("v-%d", n), func(s *v1beta2.VolumeSpec) { s.NumberOfReplicas = 1 })
		w.replica(v, fmt.Sprintf("v-%d-r", n), fmt.Sprintf("node-%d", n%3+1))
	}
	for n := range volumes {
		w.reaches(&v1beta2.Volume{ObjectMeta: w.meta(fmt.Sprintf("v-%d", n))}, v1beta2.VolumeStateDetached, "")
	}
	w.still(p)
	return p
}

// still waits until there are no more writes and evaluations, including debounced ones.
func (w *world) still(p *shell.Process) {
	w.t.Helper()
	w.quiet(p)
	count := -1
	require.Eventually(w.t, func() bool {
		before := count
		count = decisions(w.t)
		return before == count
	}, patience, debounce+100*time.Millisecond, "it never stops evaluating")
}

// costs reports how many volumes are evaluated because of a change.
func (w *world) costs(p *shell.Process, wanted int, happens func()) {
	w.t.Helper()
	before := decisions(w.t)
	happens()
	require.Eventually(w.t, func() bool { return decisions(w.t)-before >= wanted }, patience, poll)
	w.quiet(p)
	require.Equal(w.t, wanted, decisions(w.t)-before)
}

// ALL-1: a change is evaluated for the volumes that it concerns, and for none if it concerns nothing.
func TestWorkIsForTheVolumesThatAChangeIsAbout(t *testing.T) {
	w := newWorld(t)
	p := w.crowd(9)
	writes := len(p.Client.Writes())
	replica, engine, node := &v1beta2.Replica{ObjectMeta: w.meta("v-4-r")}, &v1beta2.Engine{ObjectMeta: w.meta("v-4-e-0")},
		&v1beta2.Node{ObjectMeta: w.meta("node-1")}

	w.costs(p, 0, func() {
		w.status(replica, map[string]any{"ownerID": "node-2", "instanceManagerName": "another"})
		w.status(engine, map[string]any{"ownerID": "node-2", "snapshots": map[string]any{"s": map[string]any{"name": "s"}},
			"rebuildStatus": map[string]any{"a": map[string]any{"progress": 3}}})
		w.status(node, map[string]any{"region": "r", "zone": "z", "diskStatus": map[string]any{"d": map[string]any{"storageAvailable": 5}}})
		w.status(&v1beta2.Volume{ObjectMeta: w.meta("v-4")}, map[string]any{"actualSize": 5, "ownerID": "node-2", "lastBackup": "b"})
	})
	w.plane.change(func(p *plane) { p.still["v-4-r"] = true })
	w.costs(p, 1, func() { w.status(replica, map[string]any{"uuid": "another"}) })
	w.costs(p, 1, func() { w.status(engine, map[string]any{"isExpanding": true}) })
	w.costs(p, 3, func() { w.down("node-1") })
	w.costs(p, 9, func() { w.create(&v1beta2.Setting{ObjectMeta: w.meta("auto-salvage"), Value: "false"}) })
	require.Len(t, p.Client.Writes(), writes)
}

// A volume without work enqueues no other.
func TestNothingHappensWhileNothingChanges(t *testing.T) {
	w := newWorld(t)
	p := w.start()
	w.attached(v1beta2.DataEngineV2, "node-3")
	w.still(p)
	before := decisions(t)
	require.Never(t, func() bool { return decisions(t) != before }, 2*time.Second, 100*time.Millisecond)
}

// generations are how often the spec of each object was written.
func (w *world) generations(objects ...client.Object) []int64 {
	w.t.Helper()
	var out []int64
	for _, o := range objects {
		require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(o), o))
		out = append(out, o.GetGeneration())
	}
	return out
}

// Nothing is patched twice on the way in or out.
func TestAnAttachAndADetachWriteEachSpecOnce(t *testing.T) {
	bothEngines(t, func(t *testing.T, dataEngine string) {
		w := newWorld(t)
		p := w.start()
		v := w.attached(dataEngine, "node-3")
		w.wanted(v, "")
		w.reaches(v, v1beta2.VolumeStateDetached, "")
		w.quiet(p)
		objects := []client.Object{&v1beta2.Engine{ObjectMeta: w.meta(vol + "-e-0")}, &v1beta2.Replica{ObjectMeta: w.meta("r-1")},
			&v1beta2.Replica{ObjectMeta: w.meta("r-2")}}
		if dataEngine == v1beta2.DataEngineV2 {
			objects = append(objects, &v1beta2.EngineFrontend{ObjectMeta: w.meta(vol + "-ef-0")})
		}
		for _, node := range []string{"node-3", "", "node-1", ""} {
			before := w.generations(objects...)
			w.wanted(v, node)
			w.is(v, "on "+node, func(v *v1beta2.Volume) bool {
				return v.Status.CurrentNodeID == node &&
					(v.Status.State == v1beta2.VolumeStateAttached || v.Status.State == v1beta2.VolumeStateDetached)
			})
			w.quiet(p)
			for i, after := range w.generations(objects...) {
				require.Equal(t, before[i]+1, after, "%T %s on the way to %q", objects[i], objects[i].GetName(), node)
			}
		}
	})
}
