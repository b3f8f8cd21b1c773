package attachment

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

func text(r Report) string {
	var out bytes.Buffer
	r.Text(terminal.New(&out))
	return out.String()
}

func answered(kind string, status v1beta2.ConditionStatus, reason, message string) []v1beta2.Condition {
	return []v1beta2.Condition{{Type: "Another"}, {Type: kind, Status: status, Reason: reason, Message: message}}
}

// What attach-controller stored may be about the ticket as it was before, or about another state of the object.
func TestOnlyAnAnswerToTheWrittenTicketCounts(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*v1beta2.VolumeAttachment, *v1beta2.AttachmentTicketStatus)
		done    bool
		message string
	}{
		"it is served":        {func(*v1beta2.VolumeAttachment, *v1beta2.AttachmentTicketStatus) {}, true, "It is attached."},
		"the object is newer": {func(a *v1beta2.VolumeAttachment, _ *v1beta2.AttachmentTicketStatus) { a.Generation = 8 }, false, ""},
		"the ticket is newer": {func(_ *v1beta2.VolumeAttachment, s *v1beta2.AttachmentTicketStatus) { s.Generation = 1 }, false, ""},
		"the answer is that it waits": {func(_ *v1beta2.VolumeAttachment, s *v1beta2.AttachmentTicketStatus) { s.Satisfied = false }, false,
			"It is attached."},
	} {
		t.Run(name, func(t *testing.T) {
			one := ticket(v1beta2.AttacherLonghornAPI, "node-1")
			one.Generation = 2
			w := with(DefaultTicket, one)
			a := &w.Attachments.Items[0]
			a.Generation, a.Status.ObservedGeneration = 7, 7
			status := v1beta2.AttachmentTicketStatus{Generation: 2, Satisfied: true, Conditions: answered(v1beta2.TicketSatisfied,
				v1beta2.ConditionTrue, "Satisfied", "It is attached.")}
			test.change(a, &status)
			a.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{DefaultTicket: status}
			r := Attached(w, "vol-1", DefaultTicket, Written)
			require.Equal(t, test.done, r.Done)
			require.Equal(t, test.message, r.Message)
		})
	}
}

func TestAfterAttachAPersonSeesWhatItWaitsForAndWhoElseWantsTheVolume(t *testing.T) {
	w := worldWith(map[string]v1beta2.AttachmentTicket{DefaultTicket: ticket(v1beta2.AttacherLonghornAPI, "node-1"),
		"csi-1": ticket(v1beta2.AttacherCSI, "node-2")})
	w.Unread = []world.Unread{{Resource: "pods", Reason: "Pods are not allowed."}}
	status := v1beta2.AttachmentTicketStatus{Conditions: answered(v1beta2.TicketSatisfied, v1beta2.ConditionFalse,
		v1beta2.ReasonAttachedElsewhere, "It is attached to node-2.")}
	w.Attachments.Items[0].Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{DefaultTicket: status}
	require.Equal(t, `vol-1: ticket by-hand wants node node-1 (written).
  It is attached to node-2.

Also wanted by
  TICKET   FOR          NODE     HOLDS   ANSWER   SINCE
  csi-1    Kubernetes   node-2

Next
  kubectl drover why vol-1 -n longhorn-system

Not shown: Pods are not allowed.
`, text(Attached(w, "vol-1", DefaultTicket, Written)))

	w = with(DefaultTicket, ticket(v1beta2.AttacherLonghornAPI, "node-1"))
	status.Satisfied = true
	w.Attachments.Items[0].Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{DefaultTicket: status}
	r := Attached(w, "vol-1", DefaultTicket, Unchanged)
	require.Equal(t, "vol-1 is attached to node node-1 for ticket by-hand (unchanged).\n", text(r), "nothing is left to do")
	require.Equal(t, []string{"volumeattachment.longhorn.io/vol-1"}, r.Names())
}

func TestAfterDetachAPersonSeesWhereTheVolumeIs(t *testing.T) {
	ready := func(reason string) func(*v1beta2.VolumeAttachment) {
		return func(a *v1beta2.VolumeAttachment) {
			a.Status.Conditions = answered(v1beta2.VolumeAttachmentReady, v1beta2.ConditionFalse, reason, "A sentence.")
		}
	}
	for name, test := range map[string]struct {
		change        func(*v1beta2.VolumeAttachment)
		want, message string
		done          bool
	}{
		"attach-controller has not seen the removal": {func(a *v1beta2.VolumeAttachment) {
			ready(v1beta2.ReasonDetached)(a)
			a.Generation = 8
		}, "vol-1: removed ticket a, b.", "", false},
		"another ticket holds it": {func(a *v1beta2.VolumeAttachment) {
			ready(v1beta2.ReasonDetached)(a)
			a.Status.Holder, a.Status.NodeID = "csi-1", "node-2"
		}, "vol-1: removed ticket a, b. It stays on, or goes to, node node-2 for ticket csi-1.", "A sentence.", true},
		"it is being detached": {ready("Detaching"), "vol-1: removed ticket a, b.", "A sentence.", false},
		"it is detached":       {ready(v1beta2.ReasonDetached), "vol-1: removed ticket a, b. The volume is detached.", "A sentence.", true},
		"it is detached, and no other ticket can have it": {ready(v1beta2.ReasonNoCandidate),
			"vol-1: removed ticket a, b. The volume is detached.", "A sentence.", true},
		"it is faulted": {ready(v1beta2.ReasonFaulted), "vol-1: removed ticket a, b. The volume is detached.", "A sentence.", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldWith(nil)
			a := &w.Attachments.Items[0]
			a.Generation, a.Status.ObservedGeneration = 7, 7
			test.change(a)
			r := Detached(w, "vol-1", []string{"a", "b"})
			require.Equal(t, test.want, r.summary)
			require.Equal(t, test.message, r.Message)
			require.Equal(t, test.done, r.Done)
			if test.done {
				require.Equal(t, test.want+"\n", text(r))
			}
		})
	}
}

func TestAReportHasWhatWasDoneForProgramsToo(t *testing.T) {
	w := worldWith(map[string]v1beta2.AttachmentTicket{"a": ticket(v1beta2.AttacherLonghornAPI, "node-1")})
	r := Attached(w, "vol-1", "a", Unchanged)
	require.Equal(t, []any{"vol-1", Unchanged, []string{"a"}, "node-1"}, []any{r.Volume, r.Action, r.Tickets, r.Node})
	require.Empty(t, r.Others, "its own ticket is none of the others")
	require.NoError(t, r.Err())
	r = Detached(w, "vol-1", []string{"b", "c"})
	require.Equal(t, []any{"vol-1", Removed, []string{"b", "c"}, ""}, []any{r.Volume, r.Action, r.Tickets, r.Node})
	require.Len(t, r.Others, 1)
	require.EqualError(t, Attached(w, "vol-1", "gone", Written).Err(), "ticket gone of volume vol-1 was removed meanwhile: by detach, or it "+
		"expired; see: kubectl drover why vol-1 -n longhorn-system")
}

func TestATicketThatIsNotAnsweredYetShowsNoEmptyLine(t *testing.T) {
	w := with(DefaultTicket, ticket(v1beta2.AttacherLonghornAPI, "node-1"))
	require.Equal(t, "vol-1: ticket by-hand wants node node-1 (written).\n\nNext\n  kubectl drover why vol-1 -n longhorn-system\n",
		text(Attached(w, "vol-1", DefaultTicket, Written)))
}
