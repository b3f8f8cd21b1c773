package execute

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALeaderWaitsFromItsElectionAndAnybodyElseForEver(t *testing.T) {
	elected := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, elected.Add(3*time.Minute), FencingDelayEnds(elected, elected.Add(time.Hour), 3*time.Minute))
	for _, now := range []time.Time{elected, elected.Add(24 * time.Hour)} {
		require.True(t, FencingDelayEnds(time.Time{}, now, 3*time.Minute).After(now))
	}
	require.True(t, FencingDelayEnds(time.Time{}, elected, 0).After(elected), "also where there is no delay")
}
