package execute

import (
	"errors"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// Outcome is what is known of a call that was sent, a closed list.
type Outcome string

const (
	// Accepted: the server took the call; a list shows what came of it.
	Accepted Outcome = "Accepted"
	// AlreadyExists: the name is taken, and nothing was done. A list shows whose it is.
	AlreadyExists Outcome = "AlreadyExists"
	// NotFound: the server knows no such instance, or none with this UUID. An earlier call may have ended it.
	NotFound Outcome = "NotFound"
	// Refused: the server declined before it began; nothing was done. A switch-over is the exception: a part of a phase that was refused may
	// be done.
	Refused Outcome = "Refused"
	// Failed: the server answered an error that leaves open how far it came, or its answer could not be read.
	Failed Outcome = "Failed"
	// Unanswered: it is not known whether the server began, or will begin. A call that this process withheld, since its lease is old,
	// counts as unanswered, too.
	Unanswered Outcome = "Unanswered"
)

// outcomes are the kinds of errors whose outcome is certain. Instance managers answer most failures with the code Unknown or Internal, and
// gRPC itself Internal for a broken answer, so every other error is Failed.
var outcomes = []struct {
	kind    error
	outcome Outcome
}{
	{imclient.ErrUnreachable, Unanswered}, // first: whatever else is joined to it, no answer is no answer
	{imclient.ErrAlreadyExists, AlreadyExists},
	{imclient.ErrNotFound, NotFound},
	{imclient.ErrRefused, Refused},
	{imclient.ErrUnsupported, Refused},
}

// OutcomeOf is the outcome of a call that returned err:
//
//	nil                                                                  Accepted
//	Unavailable, DeadlineExceeded, Canceled                              Unanswered
//	AlreadyExists                                                        AlreadyExists
//	NotFound                                                             NotFound
//	FailedPrecondition, InvalidArgument, PermissionDenied,
//	Unauthenticated, Aborted, Unimplemented                              Refused
//	every other code, and errors without one                             Failed
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Accepted
	}
	for _, one := range outcomes {
		if errors.Is(err, one.kind) {
			return one.outcome
		}
	}
	return Failed
}

// Took reports whether what a deletion asks for is under way or done: the server took it, or knows nothing of that name and UUID any more.
func (o Outcome) Took() bool { return o == Accepted || o == NotFound }

// Declined reports whether the server answered and did not do what was asked for, as far as it reports.
func (o Outcome) Declined() bool { return o == Refused || o == Failed }
