package upgradecontroller

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/upgrade-controller/internal/model"
)

// every is which of the cuts are made where one node is upgraded; 1 makes all of them, which takes minutes.
var every = flag.Int("every", 9, "makes each n-th cut of the upgrade of one node")

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end. Cut is a sample of the writes of the upgrade of one node, and of all three.
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
	for name, scenario := range map[string]struct {
		nodes []string
		each  int
	}{"one node": {[]string{"node-1"}, *every * oneCutOf}, "three nodes": {nil, 61 * oneCutOf}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes := runCrash(t, scenario.nodes, cut.Point{})
			require.Positive(t, writes)
			points := cut.Share(cut.Points(writes), scenario.each)
			for _, point := range points {
				t.Run(point.String(), func(t *testing.T) {
					t.Parallel()
					runCrash(t, scenario.nodes, point)
				})
			}
			t.Logf("%d writes, %d cuts", writes, len(points))
		})
	}
}

// runCrash upgrades, restarting the controller when it is cut, and returns how many writes the first process sent.
func runCrash(t *testing.T, nodes []string, point cut.Point) int {
	w := newWorld(t, func(w *model.World) {
		w.AddVolume("vol-1", "node-1", "node-1", "node-2", "node-3")
		if nodes == nil {
			w.AddVolume("vol-2", "node-2", "node-1", "node-2")
		}
	})
	w.play()
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
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = nodes })
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	if point.Write > 0 {
		select {
		case <-restarted:
		case <-dead:
			<-restarted
		default: // this run needed fewer writes
		}
	}
	if nodes == nil {
		nodes = []string{"node-1", "node-2", "node-3"}
	}
	w.upgraded(nodes...)
	w.leftNothing()
	return len(p.Client.Writes())
}
