package execute

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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
	require.Empty(t, s.Decline(b), "it took its slot")
	next, _ = s.Release("im")
	require.Equal(t, c, next)
	require.Equal(t, []string{d}, s.Decline(c), "c needs none any more: the next one goes, or no one ever would")
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
	require.Empty(t, s.Decline("b"))
	require.Empty(t, s.Decline("b"), "a slot is declined once")
	require.Empty(t, s.enqueued)
	require.True(t, s.Take("im", "c", 1), "the slot is free")
}

// queueModel is a Queue with two instance managers, and what each key does: "" is nothing.
type queueModel struct {
	t       *rapid.T
	queue   Queue[string]
	limit   int
	does    map[string]string
	waiting map[string][]string
}

const holds, waitsInLine, enqueuedFirst = "holds a slot", "waits", "is enqueued"

// at is the instance manager of a key: a key has one.
func (m *queueModel) at(key string) string { return "im-" + key[:1] }

func (m *queueModel) count(im, what string) (n int) {
	for key, does := range m.does {
		if m.at(key) == im && does == what {
			n++
		}
	}
	return n
}

func (m *queueModel) take(key string) {
	im, had := m.at(key), m.does[key]
	free := m.count(im, holds) < m.limit
	require.Equal(m.t, free, m.queue.Take(im, key, m.limit), "a slot is taken where one is free, and only there")
	switch {
	case free:
		m.does[key] = holds
	case had != waitsInLine:
		m.does[key], m.waiting[im] = waitsInLine, append(m.waiting[im], key)
	}
}

// give ends what a key has, and expects the first one of the queue next.
func (m *queueModel) give(key string, end func() (string, bool)) {
	im := m.at(key)
	m.does[key] = ""
	next, waits := end()
	require.Equal(m.t, len(m.waiting[im]) > 0, waits)
	if waits {
		require.Equal(m.t, m.waiting[im][0], next, "in order")
		m.does[next], m.waiting[im] = enqueuedFirst, m.waiting[im][1:]
	}
}

func (m *queueModel) step(key string, needsNone bool) {
	switch does := m.does[key]; {
	case does == holds:
		m.give(key, func() (string, bool) { return m.queue.Release(m.at(key)) })
	case does == enqueuedFirst && needsNone:
		m.give(key, func() (string, bool) {
			next := append(m.queue.Decline(key), "")
			return next[0], len(next) > 1
		})
	case needsNone:
		require.Empty(m.t, m.queue.Decline(key), "it has no slot to pass on")
	case does != waitsInLine || rapid.Bool().Draw(m.t, "takes while it waits") && m.count(m.at(key), holds) >= m.limit:
		m.take(key)
	}
}

// A key that waits is never forgotten: as many others hold or are about to take a slot as there are slots.
func TestAQueueServesEveryKeyInOrderAndLosesNoSlot(t *testing.T) {
	keys := []string{"a1", "a2", "a3", "a4", "a5", "b1", "b2"}
	rapid.Check(t, func(t *rapid.T) {
		m := &queueModel{t: t, limit: rapid.IntRange(1, 3).Draw(t, "limit"), does: map[string]string{}, waiting: map[string][]string{}}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			m.step(rapid.SampledFrom(keys).Draw(t, "key"), rapid.IntRange(0, 3).Draw(t, "needs none") == 0)
			for im, waiting := range m.waiting {
				if len(waiting) > 0 {
					require.GreaterOrEqual(t, m.count(im, holds)+m.count(im, enqueuedFirst), m.limit, "%s: %v", im, m.does)
				}
			}
		}
		for range len(keys) {
			for _, key := range keys {
				if does := m.does[key]; does == holds || does == enqueuedFirst {
					m.step(key, true)
				}
			}
		}
		for _, key := range keys {
			require.Empty(t, m.does[key], "%s still %s", key, m.does[key])
		}
		require.Empty(t, m.queue.lines, "nothing is kept of instance managers that no one calls")
		require.Empty(t, m.queue.enqueued)
	})
}

func TestAKeyKeepsItsReservedSlotWhileItTakesOneElsewhere(t *testing.T) {
	var s Queue[string]
	for _, k := range []string{"a", "b", "c"} {
		require.Equal(t, k == "a", s.Take("im", k, 1))
	}
	next, _ := s.Release("im")
	require.Equal(t, "b", next)
	require.True(t, s.Take("other", "b", 1))
	require.Equal(t, []string{"c"}, s.Decline("b"), "or c would wait for ever")
}

func TestAKeyThatTwoInstanceManagersEnqueuedPassesOnTheSlotThatItDoesNotTake(t *testing.T) {
	var s Queue[string]
	require.True(t, s.Take("im-1", "a", 1))
	require.True(t, s.Take("im-2", "b", 1))
	for _, im := range []string{"im-1", "im-2"} {
		require.False(t, s.Take(im, "k", 1))
	}
	require.False(t, s.Take("im-1", "c", 1))
	for _, im := range []string{"im-1", "im-2"} {
		next, _ := s.Release(im)
		require.Equal(t, "k", next)
	}
	require.True(t, s.Take("im-2", "k", 1))
	require.Equal(t, []string{"c"}, s.Decline("k"), "the slot of im-1 is free, and c waits for it")
}

func TestASemaphoreBoundsEachInstanceManagerAndKeepsNothingOfAnIdleOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Semaphore
		held := map[string][]func(){}
		limit := rapid.IntRange(1, 3).Draw(t, "limit")
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			im := rapid.SampledFrom([]string{"im-1", "im-2"}).Draw(t, "im")
			if n := len(held[im]); n > 0 && rapid.Bool().Draw(t, "returns") {
				held[im][n-1]()
				held[im] = held[im][:n-1]
				continue
			}
			release, ok := s.Take(im, limit)
			require.Equal(t, len(held[im]) < limit, ok)
			if ok {
				held[im] = append(held[im], release)
			} else {
				release() // of what was not taken nothing is returned
			}
		}
		for _, all := range held {
			for _, release := range all {
				release()
			}
		}
		require.Empty(t, s.used)
	})
}
