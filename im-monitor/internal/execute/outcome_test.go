package execute

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
)

func TestTheOutcomeOfAnError(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want Outcome
	}{
		{"an answer", nil, Accepted},
		{"no answer", imclient.ErrUnreachable, Unanswered},
		{"the name is taken", imclient.ErrAlreadyExists, AlreadyExists},
		{"no such instance", imclient.ErrNotFound, NotFound},
		{"the server declined", imclient.ErrRefused, Refused},
		{"the server does not know the call", imclient.ErrUnsupported, Refused},
		{"the server began and failed", imclient.ErrFailed, Failed},
		{"an answer that cannot be read may be a success", imclient.ErrTooLarge, Failed},
		{"an answer that contradicts itself may be a success", imclient.ErrMalformed, Failed},
		{"an error that is no call's", errors.New("no route"), Failed},
		{"of two errors the one that knows less counts", errors.Join(imclient.ErrRefused, imclient.ErrUnreachable), Unanswered},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.err
			if err != nil {
				err = fmt.Errorf("deleting: %w", &imclient.CallError{Method: "InstanceDelete", Kind: c.err, Err: errors.New("text")})
			}
			require.Equal(t, c.want, OutcomeOf(err))
			require.Equal(t, c.want == Accepted || c.want == NotFound, c.want.Took())
			require.Equal(t, c.want == Refused || c.want == Failed, c.want.Declined())
		})
	}
}
