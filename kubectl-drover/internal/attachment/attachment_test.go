package attachment

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// worldWith has volume vol-1 with these tickets, by id.
func worldWith(tickets map[string]v1beta2.AttachmentTicket) *world.World {
	w := &world.World{Namespace: "longhorn-system", Now: time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)}
	w.Volumes.Items = make([]v1beta2.Volume, 1)
	w.Attachments.Items = make([]v1beta2.VolumeAttachment, 1)
	w.Attachments.Items[0].Spec = v1beta2.VolumeAttachmentSpec{Volume: "vol-1", AttachmentTickets: tickets}
	return w
}

// stored merges a change into what is stored, as the API server does.
func stored(t *testing.T, w *world.World, change Change) *world.World {
	t.Helper()
	after := fields(t, w.Attachments.Items[0].Spec)
	merge(after, fields(t, change.Patch()))
	text, err := json.Marshal(after)
	require.NoError(t, err)
	var spec v1beta2.VolumeAttachmentSpec
	require.NoError(t, json.Unmarshal(text, &spec))
	return worldWith(spec.AttachmentTickets)
}

func fields(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// merge is a JSON merge patch (RFC 7386): null removes, what is not named stays.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		child, isObject := value.(map[string]any)
		stored, exists := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && exists:
			merge(stored, child)
		default:
			into[key] = value
		}
	}
}

func TestAttachWithoutAnExpiryRemovesOneThatIsStored(t *testing.T) {
	w := worldWith(nil)
	wish := Wish{Ticket: DefaultTicket, Node: "node-1", ExpiresAfter: 2 * time.Hour}
	change, err := Attach(w, "vol-1", wish)
	require.NoError(t, err)
	w = stored(t, w, change)
	require.Equal(t, "2026-08-01T14:00:00Z", w.Attachments.Items[0].Spec.AttachmentTickets[DefaultTicket].Parameters[v1beta2.TicketExpiresAt])

	wish.ExpiresAfter = 0
	_, err = Attach(w, "vol-1", wish)
	require.ErrorContains(t, err, "exists with other parameters (disable-frontend false, expires 2026-08-01T14:00:00Z)")
	wish.Replace = true
	change, err = Attach(w, "vol-1", wish)
	require.NoError(t, err)
	w = stored(t, w, change)
	require.Empty(t, w.Attachments.Items[0].Spec.AttachmentTickets[DefaultTicket].Parameters[v1beta2.TicketExpiresAt])

	change, err = Attach(w, "vol-1", wish)
	require.NoError(t, err)
	require.Empty(t, change, "it is unchanged")
}

func TestDetachRemovesTheDefaultTicketUnlessOthersAreNamed(t *testing.T) {
	person := func(id string) v1beta2.AttachmentTicket {
		return v1beta2.AttachmentTicket{ID: id, Type: v1beta2.AttacherLonghornAPI, NodeID: "node-1"}
	}
	other := map[string]v1beta2.AttachmentTicket{"backup-tool": person("backup-tool")}
	_, err := Detach(worldWith(other), "vol-1", Which{})
	require.ErrorContains(t, err, "volume vol-1 has no ticket by-hand; other people's are backup-tool: name one with --ticket")
	_, err = Detach(worldWith(other), "vol-1", Which{Node: "node-1"})
	require.ErrorContains(t, err, "backup-tool")

	both := map[string]v1beta2.AttachmentTicket{"backup-tool": person("backup-tool"), DefaultTicket: person(DefaultTicket)}
	for want, which := range map[string]Which{DefaultTicket: {}, "backup-tool": {Ticket: "backup-tool"}} {
		change, err := Detach(worldWith(both), "vol-1", which)
		require.NoError(t, err)
		require.Equal(t, []string{want}, change.IDs())
	}
	change, err := Detach(worldWith(both), "vol-1", Which{All: true})
	require.NoError(t, err)
	require.Equal(t, []string{"backup-tool", DefaultTicket}, change.IDs())
}

func TestATicketThatIsGoneIsNotWaitedFor(t *testing.T) {
	w := worldWith(map[string]v1beta2.AttachmentTicket{DefaultTicket: {ID: DefaultTicket, Type: v1beta2.AttacherLonghornAPI,
		NodeID: "node-1"}})
	require.NoError(t, Attached(w, "vol-1", DefaultTicket, Written).Err())
	require.ErrorContains(t, Attached(worldWith(nil), "vol-1", DefaultTicket, Written).Err(),
		"ticket by-hand of volume vol-1 was removed meanwhile")
}
