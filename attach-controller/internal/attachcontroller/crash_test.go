package attachcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// crashScenarios are scenarios whose end must be the same wherever the controller dies: their preparation, and what the peer controllers
// do until the end is reached. Each step waits for what is stored, never for events.
var crashScenarios = map[string]struct{ prepare, drive func(*world) }{
	"A1 there and back": {
		prepare: func(w *world) { w.volume(vol, nil) },
		drive: func(w *world) {
			w.ready(vol, v1beta2.ReasonDetached)
			w.put(vol, "pod", v1beta2.AttacherCSI, "node-1")
			w.shows(vol, "node-1", "pod Attaching")
			w.attached(vol, "node-1")
			w.shows(vol, "node-1", "pod Satisfied")
			w.drop(vol, "pod")
			w.shows(vol, "")
			w.detached(vol)
			w.ready(vol, v1beta2.ReasonDetached)
		},
	},
	"A4 a snapshot gives way": {
		prepare: func(w *world) { w.held("snap", v1beta2.AttacherSnapshot) },
		drive: func(w *world) {
			w.shows(vol, "node-1", "snap Satisfied")
			w.put(vol, "pod", v1beta2.AttacherCSI, "node-2")
			w.shows(vol, "", "pod WaitingForDetach", "snap LowerPriority")
			w.detached(vol)
			w.shows(vol, "node-2", "pod Attaching", "snap LowerPriority")
			w.attached(vol, "node-2")
			w.shows(vol, "node-2", "pod Satisfied", "snap AttachedElsewhere")
		},
	},
	"A7 a node that went down": {
		prepare: func(w *world) { w.held("pod-1", v1beta2.AttacherCSI) },
		drive: func(w *world) {
			w.shows(vol, "node-1", "pod-1 Satisfied")
			w.down("node-1")
			w.put(vol, "pod-2", v1beta2.AttacherCSI, "node-2")
			w.shows(vol, "", "pod-1 NodeNotReady", "pod-2 WaitingForDetach")
			w.detached(vol)
			w.shows(vol, "node-2", "pod-1 NodeNotReady", "pod-2 Attaching")
		},
	},
	"A10 a live migration": {
		prepare: func(w *world) {
			w.held("pod-1", v1beta2.AttacherCSI)
			w.spec(&v1beta2.Volume{ObjectMeta: w.meta(vol)},
				map[string]any{"migratable": true, "accessMode": v1beta2.AccessModeReadWriteMany})
			w.engine(vol, vol+"-e-0", "node-1", "s1")
		},
		drive: func(w *world) {
			v := &v1beta2.Volume{ObjectMeta: w.meta(vol)}
			w.shows(vol, "node-1", "pod-1 Satisfied")
			w.put(vol, "pod-2", v1beta2.AttacherCSI, "node-2")
			w.shows(vol, "node-1 node-2", "pod-1 Satisfied", "pod-2 Migrating")
			w.engine(vol, vol+"-e-1", "node-2", "s1")
			w.status(v, map[string]any{"currentMigrationNodeID": "node-2"})
			w.shows(vol, "node-1 node-2", "pod-1 Satisfied", "pod-2 Satisfied")
			w.drop(vol, "pod-1")
			w.shows(vol, "node-2", "pod-2 Satisfied")
			w.status(v, map[string]any{"currentNodeID": "node-2", "currentMigrationNodeID": ""})
			w.ready(vol, v1beta2.ReasonAttached)
		},
	},
	"A14 a take-over": {
		prepare: func(w *world) {
			v := w.volume(vol, nil)
			w.spec(v, map[string]any{"nodeID": "node-1"})
			w.attached(vol, "node-1")
		},
		drive: func(w *world) {
			w.shows(vol, "node-1", ticket.UITicket+" Satisfied")
			_, a := w.now(vol)
			require.Len(w.t, a.Spec.AttachmentTickets, 1)
		},
	},
	"A16 the end of an attachment": {
		prepare: func(w *world) { w.held("pod", v1beta2.AttacherCSI) },
		drive: func(w *world) {
			w.shows(vol, "node-1", "pod Satisfied")
			w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)})
			w.ready(vol, v1beta2.ReasonBlocked)
			w.delete(w.ofTickets(vol))
			testkit.WaitGone(w.t, w.admin, w.ofTickets(vol))
		},
	},
}

// held creates a volume that is attached to node-1 for a ticket without an answer.
func (w *world) held(id, attacher string) {
	w.t.Helper()
	v := w.volume(vol, nil)
	w.spec(v, map[string]any{"nodeID": "node-1"})
	w.attached(vol, "node-1")
	a := w.ofTickets(vol)
	a.Spec = v1beta2.VolumeAttachmentSpec{Volume: vol, AttachmentTickets: map[string]v1beta2.AttachmentTicket{
		id: {ID: id, Type: attacher, NodeID: "node-1", Generation: 1},
	}}
	w.create(a)
}

// ALL-2: whichever write of the controller is its last, before it is sent or after it was answered, the next process
// comes to the same end.
func TestTheEndIsTheSameWhereverTheAttachControllerDies(t *testing.T) {
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
