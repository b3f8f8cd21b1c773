package ticketcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cut"
)

// crashScenarios are scenarios whose end must be the same wherever the controller dies: their preparation, and what the peer controllers
// do until the end is reached.
var crashScenarios = map[string]struct{ prepare, drive func(*world) }{
	"A12 a clone": {
		prepare: func(w *world) { w.volume(vol, nil) },
		drive: func(w *world) {
			target := w.volume("copy", func(s *v1beta2.VolumeSpec) { s.DataSource = "vol://vol-1" })
			w.shows("copy", "volume-clone-controller-copy @node-1 true")
			w.attached(target, "node-1")
			w.shows(vol, "volume-clone-controller-copy @node-1 any")
			w.status(target, map[string]any{"cloneStatus": map[string]any{"state": "completed"}})
			w.shows("copy")
			w.shows(vol)
		},
	},
	"A11 a share that moves": {
		prepare: func(w *world) {
			w.volume(vol, func(s *v1beta2.VolumeSpec) { s.AccessMode = "rwx" })
			w.create(&v1beta2.ShareManager{ObjectMeta: w.meta(vol)})
		},
		drive: func(w *world) {
			share := &v1beta2.ShareManager{ObjectMeta: w.meta(vol)}
			w.status(share, map[string]any{"ownerID": "node-1"})
			w.put(vol, "csi-1", v1beta2.AttacherCSI, "node-3")
			w.shows(vol, "csi-1 @node-3", "share-manager-controller-vol-1 @node-1 false")
			w.status(share, map[string]any{"ownerID": "node-2"})
			w.shows(vol, "csi-1 @node-3", "share-manager-controller-vol-1 @node-2 false")
			require.EqualValues(w.t, 2, w.tickets(vol)["share-manager-controller-vol-1"].Generation, "one move is counted once")
			w.drop(vol, "csi-1")
			w.shows(vol)
		},
	},
	"A15 an owner that goes": {
		prepare: func(w *world) {
			w.volume(vol, nil)
			w.put(vol, "a", v1beta2.AttacherLonghornAPI, "node-1", v1beta2.TicketOwnerKind, ticket.KindBackup, v1beta2.TicketOwnerName, "b")
			w.put(vol, "b", v1beta2.AttacherLonghornAPI, "node-1")
		},
		drive: func(w *world) { w.shows(vol, "b @node-1") },
	},
}

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end.
func TestTheEndIsTheSameWhereverTheTicketControllerDies(t *testing.T) {
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
