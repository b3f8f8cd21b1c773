package machinecontroller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// crashScenarios are scenarios whose end must be the same wherever the controller dies: their preparation without failures, and what then
// happens until the end is reached.
var crashScenarios = map[string]struct {
	prepare, drive func(*world)
	// every is how many writes lie between two cuts, where not each is cut at; zero is each.
	every int
}{
	"A1 attach": {
		prepare: func(*world) {},
		drive:   func(w *world) { w.attached(v1beta2.DataEngineV2, "node-3") },
	},
	"A1 detach": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV2, "node-3") },
		drive: func(w *world) {
			w.plane.change(func(p *plane) { p.modes["r-1"] = v1beta2.ReplicaModeERR })
			w.wanted(w.theVolume(), "")
			w.reaches(w.theVolume(), v1beta2.VolumeStateDetached, "")
			w.theReplica("r-1", "failed", isFailed)
		},
	},
	"A7 node down": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV1, "node-1") },
		drive: func(w *world) {
			w.down("node-1")
			w.wanted(w.theVolume(), "")
			w.reaches(w.theVolume(), v1beta2.VolumeStateDetached, "")
			w.wanted(w.theVolume(), "node-2")
			w.reaches(w.theVolume(), v1beta2.VolumeStateAttached, "node-2")
			w.robustness(w.theVolume(), v1beta2.VolumeRobustnessDegraded)
		},
	},
	"A9 rebuild": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV1, "node-3") },
		drive: func(w *world) {
			w.plane.change(func(p *plane) { p.modes["r-1"] = v1beta2.ReplicaModeERR })
			w.replica(w.theVolume(), "r-3", "node-3")
			w.robustness(w.theVolume(), v1beta2.VolumeRobustnessHealthy)
			w.engine(vol+"-e-0", "r-2 and r-3", mapped("r-2", "r-3"))
			w.theReplica("r-3", "healthy", func(r *v1beta2.Replica) bool { return r.Spec.HealthyAt != "" })
		},
	},
	"A10 migration": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV2, "node-3") },
		drive: func(w *world) {
			w.spec(w.theVolume(), map[string]any{"migrationNodeID": "node-2"})
			w.frontend(vol+"-ef-1", "running", func(f *v1beta2.EngineFrontend) bool {
				return f.Status.CurrentState == v1beta2.InstanceStateRunning
			})
			w.spec(w.theVolume(), map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
			w.settled(w.theVolume(), "node-2")
			w.left(v1beta2.DataEngineV2, "0")
		},
	},
	"A10 migration of v1, confirmed": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV1, "node-3") },
		drive: func(w *world) {
			w.spec(w.theVolume(), map[string]any{"migrationNodeID": "node-2"})
			w.engine(vol+"-e-1", "running", func(e *v1beta2.Engine) bool { return e.Status.CurrentState == v1beta2.InstanceStateRunning })
			w.spec(w.theVolume(), map[string]any{"nodeID": "node-2", "migrationNodeID": ""})
			w.settled(w.theVolume(), "node-2")
			w.left(v1beta2.DataEngineV1, "0")
			w.onlyCopies(vol + "-e-1")
		},
	},
	"A10 migration of v1, rolled back": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV1, "node-3") },
		drive: func(w *world) {
			w.spec(w.theVolume(), map[string]any{"migrationNodeID": "node-2"})
			w.engine(vol+"-e-1", "running", func(e *v1beta2.Engine) bool { return e.Status.CurrentState == v1beta2.InstanceStateRunning })
			w.spec(w.theVolume(), map[string]any{"migrationNodeID": ""})
			w.settled(w.theVolume(), "node-3")
			w.left(v1beta2.DataEngineV1, "1")
			w.onlyCopies(vol + "-e-0")
		},
	},
	"U1 around a node": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV2, "node-1") },
		drive: func(w *world) {
			w.around()
			w.neverLost()
		},
		every: 6,
	},
	"deletion while its node is unreachable": {
		prepare: func(w *world) {
			w.attached(v1beta2.DataEngineV1, "node-1")
			w.lists("node-1", vol+"-e-0", "uuid-of-the-engine")
			w.attachment()
		},
		drive: func(w *world) {
			w.down("node-1")
			w.delete(w.theVolume())
			w.gone(w.theVolume())
			w.gaveUp("node-1", vol+"-e-0", "uuid-of-the-engine")
		},
		every: 3,
	},
	"removal without its finalizer": {
		prepare: func(w *world) { w.attached(v1beta2.DataEngineV2, "node-3") },
		drive: func(w *world) {
			w.removedByForce(w.theVolume())
			w.collectGarbage()
		},
		every: 2,
	},
	"A16 deletion": {
		prepare: func(w *world) {
			w.attached(v1beta2.DataEngineV2, "node-3")
			w.attachment()
		},
		drive: func(w *world) {
			w.delete(w.theVolume())
			w.gone(w.theVolume())
		},
	},
}

func (w *world) theVolume() *v1beta2.Volume { return &v1beta2.Volume{ObjectMeta: w.meta(vol)} }

// ALL-2: whichever write of the controller is its last, the next process comes to the same end.
func TestTheEndIsTheSameWhereverTheVolumeMachineDies(t *testing.T) {
	for name, scenario := range crashScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes, end := runCrash(t, scenario.prepare, scenario.drive, cut.Point{}, "")
			require.Positive(t, writes)
			points := slices.DeleteFunc(cut.Points(writes), func(p cut.Point) bool {
				asAfterTheWriteBefore := !p.After && p.Write > 1
				return asAfterTheWriteBefore || scenario.every > 0 && p.Write%scenario.every != 0
			})
			for _, point := range cut.Share(points, oneCutOf) {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					runCrash(t, scenario.prepare, scenario.drive, point, end)
				})
			}
		})
	}
}

// runCrash runs the scenario, restarting the controller when it is cut. Uncut, it returns how many writes the process sent and the end
// state, which must be the same wherever it is cut.
func runCrash(t *testing.T, prepare, drive func(*world), point cut.Point, want string) (writes int, end string) {
	w := newWorld(t)
	w.start()
	prepare(w)
	w.stop()
	dead, restarted := make(chan struct{}), make(chan struct{})
	p := w.startCut(point, func() { close(dead) })
	go func() {
		defer close(restarted)
		select {
		case <-dead:
			<-p.Ended()
			w.start()
		case <-t.Context().Done():
		}
	}()
	drive(w)
	if point.Write > 0 && len(p.Client.Writes()) >= point.Write {
		<-restarted
	}
	if want == "" {
		w.quiet(p)
		return len(p.Client.Writes()), w.end()
	}
	require.Eventually(t, func() bool { return w.end() == want }, patience, poll, "%s\nis wanted, it is\n%s", want, w.end())
	return 0, want
}

// end is the end state of a scenario, without names and times that differ each time.
func (w *world) end() string {
	v := w.theVolume()
	if err := w.admin.Get(w.t.Context(), client.ObjectKeyFromObject(v), v); apierrors.IsNotFound(err) {
		return "gone"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s on %q and %q, finalizers %v\n", v.Status.State, v.Status.Robustness, v.Status.CurrentNodeID,
		v.Status.CurrentMigrationNodeID, v.Finalizers)
	for _, c := range v.Status.Conditions {
		fmt.Fprintf(&b, "%s %s %s %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&engines, &frontends, &replicas} {
		require.NoError(w.t, w.admin.List(w.t.Context(), list, clientIn(w)))
	}
	var lines []string
	directories := map[string]string{} // of replicas that a migration made, the names differ each time
	for _, r := range replicas.Items {
		directories[r.Name] = r.Spec.DataDirectoryName
		lines = append(lines, fmt.Sprintf("%s active %t %s failed %t healthy %t\n", r.Spec.DataDirectoryName, r.Spec.Active, r.Spec.DesireState,
			r.Spec.FailedAt != "", r.Spec.HealthyAt != ""))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	for _, e := range engines.Items {
		var over []string
		for name := range e.Spec.ReplicaAddressMap {
			over = append(over, directories[name])
		}
		slices.Sort(over)
		fmt.Fprintf(&b, "%s %t on %q %s over %v\n", e.Name, e.Spec.Active, e.Spec.NodeID, e.Spec.DesireState, over)
	}
	for _, f := range frontends.Items {
		fmt.Fprintf(&b, "%s of %s on %q %s\n", f.Name, f.Spec.EngineName, f.Spec.NodeID, f.Spec.DesireState)
	}
	return b.String()
}
