package attachcontroller

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// Ten writers with a ticket each, all at once, while the controller answers: none of them ever meets a conflict, and every
// last word of everybody is answered.
func TestTenWritersNeverConflict(t *testing.T) {
	t.Parallel()
	const writers, rounds = 10, 10
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	errors := make(chan error, writers*rounds)
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for round := range rounds {
				node := fmt.Sprintf("node-%d", 1+(n+round)%3)
				errors <- w.tryPut(vol, fmt.Sprintf("writer-%d", n), v1beta2.AttacherSnapshot, node, round+1)
			}
		})
	}
	all.Wait()
	close(errors)
	for err := range errors {
		require.NoError(t, err)
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, a := w.now(vol)
		require.Len(c, a.Status.AttachmentTicketStatuses, writers)
		for _, answer := range a.Status.AttachmentTicketStatuses {
			require.EqualValues(c, rounds, answer.Generation)
		}
		require.Equal(c, a.Generation, a.Status.ObservedGeneration)
	}, patience, poll)
	for n := range writers {
		w.drop(vol, fmt.Sprintf("writer-%d", n))
	}
	w.shows(vol, "")
}

// The answers of tickets that are gone go, and those that others left in the status beside ours stay.
func TestAnAnswerGoesWithItsTicket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.volume(vol, nil)
	w.start()
	w.ready(vol, v1beta2.ReasonDetached)
	w.put(vol, "a", v1beta2.AttacherCSI, "node-9")
	w.put(vol, "", v1beta2.AttacherLonghornAPI, "")
	w.shows(vol, "", " NoNode", "a NodeUnknown")
	w.status(w.ofTickets(vol), map[string]any{"conditions": []any{
		map[string]any{"type": "Theirs", "status": "True", "reason": "Because", "message": "", "lastProbeTime": "",
			"lastTransitionTime": ""},
	}})
	w.drop(vol, "")
	w.shows(vol, "", "a NodeUnknown")
	w.ready(vol, v1beta2.ReasonNoCandidate)
	_, a := w.now(vol)
	require.Len(t, a.Status.Conditions, 2, "somebody else's condition stays")
}
