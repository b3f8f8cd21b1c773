package replicacontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// up creates a volume that runs on node-1 with a healthy replica on each of the nodes.
func (w *world) up(name string, nodes ...string) {
	w.t.Helper()
	w.volume(name, len(nodes))
	for _, node := range nodes {
		r := &v1beta2.Replica{ObjectMeta: w.meta(name + "-r-" + node)}
		r.Finalizers = []string{v1beta2.Finalizer}
		r.Spec = v1beta2.ReplicaSpec{
			VolumeName: name, NodeID: node, DiskID: "disk-of-" + node, DataEngine: v1beta2.DataEngineV2, VolumeSize: 10 * gib,
			Image:  "image",
			Active: true, EngineName: name + "-e-0", DesireState: v1beta2.InstanceStateStopped,
		}
		w.create(r)
	}
	w.attached(name, "node-1")
}

// crashScenarios are scenarios whose end must be the same wherever the controller dies: their preparation, and what the peer controllers
// do until the end is reached.
var crashScenarios = map[string]struct{ prepare, drive func(*world) }{
	"the first replicas": {
		prepare: func(w *world) { w.volume(vol, 3) },
		drive: func(w *world) {
			w.shows(vol, "node-1/new node-2/new node-3/new")
			w.scheduled(vol, v1beta2.ReasonPlaced)
		},
	},
	"an eviction": {
		prepare: func(w *world) { w.up(vol, "node-1", "node-2") },
		drive: func(w *world) {
			leaves := w.on(vol, "node-2")
			w.spec(&v1beta2.Node{ObjectMeta: w.meta("node-2")}, map[string]any{"evictionRequested": true})
			w.shows(vol, "node-1 node-2 node-3/new")
			w.rebuilt(vol, w.on(vol, "node-3"))
			w.shows(vol, "node-1 node-2/going node-3")
			w.polls(vol)
			w.approval(leaves, v1beta2.ReasonHealthyCopyElsewhere)
			w.out(vol, leaves)
			w.removed(leaves)
			w.shows(vol, "node-1 node-3")
		},
	},
	"a replica that comes back": {
		prepare: func(w *world) {
			w.up(vol, "node-1", "node-2")
			w.failed(vol, w.on(vol, "node-2"), time.Now())
		},
		drive: func(w *world) {
			w.shows(vol, "node-1 node-2/new")
			require.Equal(w.t, 1, w.on(vol, "node-2").Spec.RebuildRetryCount, "one attempt is counted once")
			w.rebuilt(vol, w.on(vol, "node-2"))
			w.shows(vol, "node-1 node-2")
			w.eventually(func() bool { return w.on(vol, "node-2").Spec.RebuildRetryCount == 0 }, "a success ends the count")
		},
	},
	"the end of a volume": {
		prepare: func(w *world) { w.up(vol, "node-1", "node-2") },
		drive: func(w *world) {
			w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)})
			for _, r := range w.replicas(vol) {
				w.delete(&r)
				w.approval(&r, v1beta2.ReasonVolumeDeleting)
				w.removed(&r)
			}
			w.shows(vol, "")
		},
	},
}

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end.
func TestTheEndIsTheSameWhereverTheReplicaControllerDies(t *testing.T) {
	for name, scenario := range crashScenarios {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes := runCrash(t, scenario.prepare, scenario.drive, cut.Point{})
			require.Positive(t, writes)
			for _, point := range cut.Points(writes) {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					runCrash(t, scenario.prepare, scenario.drive, point)
				})
			}
		})
	}
}

// runCrash runs the scenario, restarting the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, prepare, drive func(*world), point cut.Point) int {
	w := newWorld(t)
	prepare(w)
	dead, finished, restarted := make(chan struct{}), make(chan struct{}), make(chan struct{})
	p := w.startCut(point, func() { close(dead) })
	go func() {
		defer close(restarted)
		select {
		case <-dead:
			<-p.Ended()
			w.start()
		case <-finished: // this time it was done with fewer writes
		}
	}()
	defer func() {
		close(finished)
		<-restarted
	}()
	drive(w)
	return len(p.Client.Writes())
}
