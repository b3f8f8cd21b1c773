package rebuildpace_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/rebuildpace"
)

func TestALargeVolumeMayShowNoProgressForLonger(t *testing.T) {
	const timeout = 10 * time.Minute
	for size, want := range map[int64]time.Duration{
		0: timeout, -1: timeout, 1 << 30: timeout,
		60_000_000_000:    timeout, // one per cent takes exactly as long
		120_000_000_000:   2 * timeout,
		1_000_000_000_000: 10_000 * time.Second,
	} {
		require.Equal(t, want, rebuildpace.Patience(timeout, size), size)
	}
	require.Equal(t, 365*24*time.Hour, rebuildpace.Patience(timeout, math.MaxInt64), "it does not overflow")
}
