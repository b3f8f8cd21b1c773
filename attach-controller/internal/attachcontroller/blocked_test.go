package attachcontroller

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// What resolves itself is an answer, and no warning.
func TestAWarningIsAboutWhatAUserMustResolve(t *testing.T) {
	for reason, warned := range map[string]bool{
		v1beta2.ReasonNoNode: true, v1beta2.ReasonNodeNotReady: true, v1beta2.ReasonDataLocality: true, v1beta2.ReasonVolumeFaulted: true,
		v1beta2.ReasonTargetElsewhere: true, v1beta2.ReasonDataNodeDown: true,
		v1beta2.ReasonNodeUpgrading: false, v1beta2.ReasonAttaching: false, v1beta2.ReasonLowerPriority: false,
		v1beta2.ReasonWaitingForData:   false,
		v1beta2.ReasonWaitingForDetach: false, v1beta2.ReasonMigrating: false,
	} {
		got := blocked([]turn{{id: "a", now: v1beta2.Condition{Reason: reason, Message: "Why."}}})
		require.Equal(t, warned, len(got) > 0, reason)
	}
}

// Not parallel: the gauge is the process's.
func TestTheGaugeReportsHowManyTicketsAreBlockedNow(t *testing.T) {
	answer := func(satisfied bool, reason string) v1beta2.AttachmentTicketStatus {
		return v1beta2.AttachmentTicketStatus{Satisfied: satisfied,
			Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Reason: reason}}}
	}
	const reason = v1beta2.ReasonTooManyTickets // no other test of this package comes to it
	var b blockedTickets
	began := testutil.ToFloat64(waiting.WithLabelValues(reason))
	says := func(want float64) {
		t.Helper()
		require.Equal(t, want, testutil.ToFloat64(waiting.WithLabelValues(reason))-began)
	}
	b.note("a", map[string]v1beta2.AttachmentTicketStatus{"1": answer(false, reason), "2": answer(false, reason), "3": answer(true, reason),
		"4": answer(false, v1beta2.ReasonAttaching)})
	says(2)
	b.note("b", map[string]v1beta2.AttachmentTicketStatus{"1": answer(false, reason)})
	says(3)
	b.note("a", map[string]v1beta2.AttachmentTicketStatus{"1": answer(false, reason), "2": answer(true, v1beta2.ReasonSatisfied)})
	says(2)
	b.note("a", nil)
	b.note("b", map[string]v1beta2.AttachmentTicketStatus{"1": answer(false, v1beta2.ReasonAttaching)})
	says(0)
	require.Empty(t, b.of)
}
