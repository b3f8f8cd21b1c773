package attachcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// evaluated is the input and decision of a pass when the test continues: a ticket whose answer is to become satisfied.
func (w *world) evaluated() (writer, objects, attach.World) {
	w.t.Helper()
	w.held("pod", v1beta2.AttacherCSI)
	v, a := w.now(vol)
	seen := attach.VolumeOf(v)
	return writer{client: w.admin, uncached: w.admin}, objects{v, a},
		attach.World{Volume: &seen, Attachment: attach.AttachmentOf(a), Nodes: map[string]attach.Node{"node-1": {}, "node-2": {}}}
}

func (w *world) satisfied() bool {
	_, a := w.now(vol)
	return a.Status.AttachmentTicketStatuses["pod"].Satisfied
}

// ATT-2: what a cache shows may be old; a ticket is satisfied by what is stored.
func TestNoAnswerIsRaisedFromAnOldReading(t *testing.T) {
	cases := map[string]struct {
		meanwhile func(*world)
		conflict  bool
	}{
		"the volume left": {func(w *world) { w.detached(vol) }, false},
		"the volume was taken back": {func(w *world) { w.spec(&v1beta2.Volume{ObjectMeta: w.meta(vol)}, map[string]any{"nodeID": ""}) },
			false},
		"the volume is gone": {func(w *world) { w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)}) }, false},
		"the volume is another": {func(w *world) {
			w.delete(&v1beta2.Volume{ObjectMeta: w.meta(vol)})
			w.volume(vol, nil)
			w.attached(vol, "node-1")
		}, false},
		"the ticket wants another one": {func(w *world) { w.put(vol, "pod", v1beta2.AttacherCSI, "node-2") }, true},
		"the ticket is gone":           {func(w *world) { w.drop(vol, "pod") }, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, of, seen := w.evaluated()
			c.meanwhile(w)
			done, err := a.apply(t.Context(), of, attach.Decide(seen))
			require.Empty(t, done)
			require.Equal(t, c.conflict, err != nil, "%v", err)
			require.True(t, err == nil || status.IsConflict(err), "%v", err)
			require.False(t, w.satisfied())
		})
	}
	t.Run("nothing that counts changed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		a, of, seen := w.evaluated()
		w.status(of.volume, map[string]any{"actualSize": 4096})
		done, err := a.apply(t.Context(), of, attach.Decide(seen))
		require.NoError(t, err)
		require.Len(t, done, 1)
		require.True(t, w.satisfied())
	})
}

// ATT-1: a volume that changed since it was evaluated is not written to; a lowered answer stays lowered.
func TestTheSpecIsWrittenAtTheEvaluatedVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, of, seen := w.evaluated()
	_, err := a.apply(t.Context(), of, attach.Decide(seen))
	require.NoError(t, err)
	require.True(t, w.satisfied())
	_, of.attachment = w.now(vol)
	seen.Attachment = attach.AttachmentOf(of.attachment)
	seen.Attachment.Tickets["other"] = v1beta2.AttachmentTicket{ID: "other", Type: v1beta2.AttacherCSI, NodeID: "node-2"}
	seen.Nodes["node-1"] = attach.Node{Down: true}
	w.status(of.volume, map[string]any{"actualSize": 4096})
	done, err := a.apply(t.Context(), of, attach.Decide(seen))
	require.True(t, status.IsConflict(err), "%v", err)
	require.Len(t, done, 1)
	require.False(t, w.satisfied())
	v, _ := w.now(vol)
	require.Equal(t, "node-1", v.Spec.NodeID)
}
