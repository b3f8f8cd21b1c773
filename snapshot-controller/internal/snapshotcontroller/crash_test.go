package snapshotcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// crashScenarios must reach the same end state wherever the controller crashes: what is prepared, and what the
// peer controllers do until the end is reached.
var crashScenarios = map[string]struct{ prepare, drive func(*world) }{
	"S2 S7 taken of a detached volume, and removed": {
		prepare: func(w *world) { w.volume(vol) },
		drive: func(w *world) {
			s := w.snapshot("snap-1", vol)
			w.ready("snap-1", v1beta2.ReasonWaitingForAttach)
			w.holds(vol, 1)
			w.attach(vol)
			w.ready("snap-1", v1beta2.ReasonCreating)
			w.lists(vol, "snap-1")
			w.ready("snap-1", v1beta2.ReasonReady)
			w.holds(vol, 0)
			w.delete(s)
			w.removal("snap-1", v1beta2.ReasonRequested)
			w.lists(vol)
			w.gone("snap-1")
		},
	},
	"S9 a volume that goes": {
		prepare: func(w *world) {
			w.volume(vol)
			w.snapshot("snap-1", vol)
		},
		drive: func(w *world) {
			w.holds(vol, 1)
			w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)})
			w.gone("snap-1")
			w.holds(vol, 0)
		},
	},
}

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end.
func TestTheEndIsTheSameWhereverTheControllerDies(t *testing.T) {
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
	next := cut.NewSuccession()
	p := w.startCut(point, next.Cut)
	next.Follow(func() {
		<-p.Ended()
		w.start()
	})
	drive(w)
	if point.Write > 0 {
		next.Wait(p.Stop)
	}
	return len(p.Client.Writes())
}
