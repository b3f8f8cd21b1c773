package execute

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
