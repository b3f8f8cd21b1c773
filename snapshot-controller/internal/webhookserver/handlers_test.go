package webhookserver

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// The API server takes an answer with an error for a refusal, whatever the failure policy.
func TestARequestThatCannotBeJudgedPasses(t *testing.T) {
	answer := unanswered(t.Context(), "judge", errors.New("no connection"))
	require.True(t, answer.Allowed)
	require.Len(t, answer.Warnings, 1)
	require.Contains(t, answer.Warnings[0], "no connection")
}
