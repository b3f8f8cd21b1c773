package execute

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoFindsNoSlotIsWokenInTheOrderOfAsking(t *testing.T) {
	var s Queue[string]
	a, b, c, d := "a", "b", "c", "d"
	require.True(t, s.Take("im", a, 1))
	require.True(t, s.Take("other", b, 1), "each instance manager has its own")
	for _, k := range []string{b, c, b, d} {
		require.False(t, s.Take("im", k, 1))
	}
	next, waits := s.Release("im")
	require.True(t, waits)
	require.Equal(t, b, next)
	require.True(t, s.Take("im", b, 1))
	_, waits = s.Decline(b)
	require.False(t, waits, "it took its slot")
	next, _ = s.Release("im")
	require.Equal(t, c, next)
	next, waits = s.Decline(c)
	require.True(t, waits, "c needs none any more: the next one goes, or no one ever would")
	require.Equal(t, d, next)
	require.True(t, s.Take("im", d, 1))
	_, waits = s.Release("im")
	require.False(t, waits)
	_, waits = s.Release("other")
	require.False(t, waits)
	require.Empty(t, s.lines, "nothing is kept of instance managers that no one calls")
	require.Empty(t, s.enqueued)
}

func TestAWaiterThatComesTooLateStandsInLineAgain(t *testing.T) {
	var s Queue[string]
	a, b, c := "a", "b", "c"
	require.True(t, s.Take("im", a, 1))
	require.False(t, s.Take("im", b, 1))
	next, _ := s.Release("im")
	require.Equal(t, b, next)
	require.True(t, s.Take("im", c, 1), "somebody else was faster")
	require.False(t, s.Take("im", b, 1))
	next, waits := s.Release("im")
	require.True(t, waits)
	require.Equal(t, b, next)
}

func TestADeclinedSlotOfAnIdleInstanceManagerStaysFree(t *testing.T) {
	var s Queue[string]
	require.True(t, s.Take("im", "a", 1))
	require.False(t, s.Take("im", "b", 1))
	next, waits := s.Release("im")
	require.True(t, waits)
	require.Equal(t, "b", next)
	require.Empty(t, s.lines)
	_, waits = s.Decline("b")
	require.False(t, waits)
	_, waits = s.Decline("b")
	require.False(t, waits, "a slot is declined once")
	require.Empty(t, s.enqueued)
	require.True(t, s.Take("im", "c", 1), "the slot is free")
}
