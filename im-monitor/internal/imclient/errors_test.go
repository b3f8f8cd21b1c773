package imclient

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A23: what reaches conditions, events and statuses is in words.
func TestWhatAServerSaysIsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "",
		"the disk is full": "the disk is full",
		"rpc error: code = Unknown desc = no space":  "no space",
		"rpc error: code = Code(17) desc = no space": "no space",
		"failed to add r-1: rpc error: code = Internal desc = rpc error: code = Unknown desc = snapshot " +
			"limit": "failed to add r-1: snapshot limit",
		"rpc error: code = Unavailable desc = ":                          "Unavailable",
		"failed to list: rpc error: code = Unavailable desc = ":          "failed to list: Unavailable",
		"rpc error: code = Unknown desc = " + strings.Repeat("x", 2<<10): strings.Repeat("x", 1<<10),
	} {
		require.Equal(t, want, inWords(text), text)
	}
	err := callError(t.Context(), "SnapshotRemove", "10.0.0.1:8500", status.Error(codes.FailedPrecondition, "it is the volume's head"))
	require.EqualError(t, err, "SnapshotRemove at 10.0.0.1:8500: instance manager refused: it is the volume's head")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = callError(ctx, "SnapshotRemove", "10.0.0.1:8500", status.Error(codes.Canceled, "context canceled"))
	require.EqualError(t, err, "SnapshotRemove at 10.0.0.1:8500: instance manager unreachable: context canceled")
	require.True(t, errors.Is(err, context.Canceled))
}
