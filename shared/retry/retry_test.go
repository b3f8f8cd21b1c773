package retry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAPauseDoublesUpToTheLongest(t *testing.T) {
	p := Pause{First: 5 * time.Second, Longest: time.Minute}
	for failures, want := range []time.Duration{0, 5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute,
		time.Minute} {
		require.Equal(t, want, p.After(failures), "%d failures", failures)
	}
	require.Zero(t, p.After(-1))
	require.Equal(t, time.Minute, p.After(1<<30))
}

// No pause is shorter than the one before, and none is longer than the longest.
func TestAPauseNeverShrinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "first"))
		p := Pause{First: first, Longest: first * time.Duration(rapid.IntRange(1, 1000).Draw(t, "longest"))}
		n := rapid.IntRange(0, 100).Draw(t, "failures")
		require.GreaterOrEqual(t, p.After(n+1), p.After(n))
		require.LessOrEqual(t, p.After(n), p.Longest)
	})
}
