package instancecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhoFindsNoSlotIsWokenInTheOrderOfAsking(t *testing.T) {
	var s semaphore
	a, b, c, d := Key{"replica", "a"}, Key{"replica", "b"}, Key{"replica", "c"}, Key{"replica", "d"}
	require.True(t, s.take("im", a, 1))
	require.True(t, s.take("other", b, 1), "each instance manager has its own")
	for _, k := range []Key{b, c, b, d} {
		require.False(t, s.take("im", k, 1))
	}
	next, waits := s.release("im")
	require.True(t, waits)
	require.Equal(t, b, next)
	require.True(t, s.take("im", b, 1))
	_, waits = s.decline(b)
	require.False(t, waits, "it took its slot")
	next, _ = s.release("im")
	require.Equal(t, c, next)
	next, waits = s.decline(c)
	require.True(t, waits, "c needs none any more: the next one goes, or no one ever would")
	require.Equal(t, d, next)
	require.True(t, s.take("im", d, 1))
	_, waits = s.release("im")
	require.False(t, waits)
	_, waits = s.release("other")
	require.False(t, waits)
	require.Empty(t, s.lines, "nothing is kept of instance managers that no one calls")
	require.Empty(t, s.enqueued)
}

func TestAWaiterThatComesTooLateStandsInLineAgain(t *testing.T) {
	var s semaphore
	a, b, c := Key{"replica", "a"}, Key{"replica", "b"}, Key{"replica", "c"}
	require.True(t, s.take("im", a, 1))
	require.False(t, s.take("im", b, 1))
	next, _ := s.release("im")
	require.Equal(t, b, next)
	require.True(t, s.take("im", c, 1), "somebody else was faster")
	require.False(t, s.take("im", b, 1))
	next, waits := s.release("im")
	require.True(t, waits)
	require.Equal(t, b, next)
}
