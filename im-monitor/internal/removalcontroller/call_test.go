package removalcontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

func refusal(kind error, code codes.Code) error {
	return &imclient.CallError{Method: "InstanceDelete", Address: "scripted", Kind: kind, Err: status.Error(code, "text")}
}

// Only a server that surely did nothing refused; what it may have begun is asked for again.
func TestWhatAnAnswerMeansForARemoval(t *testing.T) {
	for outcome, want := range map[execute.Outcome]string{
		execute.Accepted: "Accepted", execute.NotFound: "NotFound", execute.Unanswered: v1beta2.ReasonUnreachable,
		execute.Refused: v1beta2.ReasonUnreachable, execute.Failed: v1beta2.ReasonUnreachable,
	} {
		result, failure := (&try{replica: &v1beta2.Replica{}}).reported(execute.Result{Outcome: outcome})
		require.Equal(t, want, result)
		require.Equal(t, outcome.Took(), failure == nil)
	}
	for err, want := range map[error]string{
		refusal(imclient.ErrRefused, codes.FailedPrecondition):   v1beta2.ReasonUUIDMismatch,
		refusal(imclient.ErrRefused, codes.PermissionDenied):     v1beta2.ReasonUnreachable,
		refusal(imclient.ErrUnsupported, codes.Unimplemented):    v1beta2.ReasonUnreachable,
		refusal(imclient.ErrUnreachable, codes.DeadlineExceeded): v1beta2.ReasonUnreachable,
	} {
		result, failure := (&try{replica: &v1beta2.Replica{}}).reported(execute.Result{Outcome: execute.OutcomeOf(err), Err: err})
		require.Equal(t, want, result)
		require.Equal(t, want, failure.Reason)
	}
	result, failure := (&try{}).reported(execute.Result{Stop: execute.Fail(v1beta2.ReasonMappedByEngine, "text")})
	require.Equal(t, v1beta2.ReasonMappedByEngine, result)
	require.Equal(t, &removal.Failure{Reason: v1beta2.ReasonMappedByEngine, Message: "text"}, failure)
	result, failure = (&try{}).reported(execute.Result{Stop: execute.Stop{Result: resultHeld, Message: "text"}})
	require.Equal(t, resultHeld, result)
	require.Nil(t, failure, "attach-controller withdraws such an approval")
}
