package execute

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTriesAreRepeatedMoreAndMoreSlowly(t *testing.T) {
	var tries Tries
	var waits []float64
	for range 8 {
		tries.Fail(start)
		waits = append(waits, tries.NotBefore.Sub(start).Seconds())
	}
	require.Equal(t, []float64{1, 2, 4, 8, 16, 32, 60, 60}, waits)

	wait := Backoff{10 * time.Second, time.Minute}
	tries.Accept(wait, start)
	require.Equal(t, 10*time.Second, tries.NotBefore.Sub(start))
	require.Zero(t, tries.Failures, "after a call that was taken there is nothing to hurry")
	tries.Fail(start)
	require.Equal(t, time.Second, tries.NotBefore.Sub(start), "a call that was taken ends a row of failures")
	tries.Accept(wait, start)
	require.Equal(t, 20*time.Second, tries.NotBefore.Sub(start), "a failure does not end a row of calls without effect")
	require.Equal(t, 10*time.Second, wait.After(0))
}

func TestWhatIsRememberedByKey(t *testing.T) {
	var m Memory[string, int]
	m.Forget("a")
	require.Zero(t, m.Of("a"))
	require.False(t, m.Known("a"))
	for _, key := range []string{"a", "b"} {
		require.Equal(t, 1, m.Change(key, func(n *int) { *n++ }))
	}
	require.Equal(t, []string{"b"}, m.ChangeAll(func(key string, n *int) bool { *n += 10; return key == "b" }))
	require.Equal(t, 11, m.Of("a"))
	m.ForgetIf("a", func(n int) bool { return n < 11 })
	require.True(t, m.Known("a"))
	require.True(t, m.ChangeKnown("a", func(n *int) bool { *n = 7; return true }))
	require.Equal(t, 7, m.Of("a"))
	require.False(t, m.ChangeKnown("a", func(*int) bool { return false }))
	m.Forget("a")
	require.False(t, m.Known("a"))
	require.False(t, m.ChangeKnown("a", func(*int) bool { return true }))
	require.False(t, m.Known("a"), "it stays forgotten")
}

func TestAWaitGrowsWithItsTriesUpToItsLimitHoweverMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := Backoff{First: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "first")),
			Most: time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "most"))}
		tries := rapid.IntRange(0, 1000).Draw(t, "tries")
		here, next := wait.After(tries), wait.After(tries+1)
		require.GreaterOrEqual(t, here, min(wait.First, wait.Most))
		require.LessOrEqual(t, here, wait.Most)
		require.GreaterOrEqual(t, next, here, "one more try is no shorter wait")
		require.LessOrEqual(t, next, 2*here, "nor more than twice as long")
		require.Equal(t, wait.Most, wait.After(1000), "the limit is reached, without an overflow")
	})
}
