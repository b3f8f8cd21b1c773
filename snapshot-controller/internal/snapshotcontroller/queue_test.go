package snapshotcontroller

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func someEntry(volume, number, minute int) entry {
	name := fmt.Sprintf("snap-%d-%d", volume, number)
	return entry{uid: types.UID(name), name: name, volume: fmt.Sprintf("vol-%d", volume), node: "node-1",
		since: time.Date(2026, 8, 1, 12, minute, 0, 0, time.UTC)}
}

func TestTheLineIsFairAndOneVolumeHasOnePlace(t *testing.T) {
	l := newPurgeQueue()
	enter := func(t entry, limit int) bool { return l.enter(t, claim{works: true, limit: limit}).granted }
	require.True(t, enter(someEntry(1, 1, 0), 1))
	require.True(t, enter(someEntry(1, 2, 5), 1), "one purge does for all of a volume")
	require.False(t, enter(someEntry(3, 1, 2), 1))
	require.False(t, enter(someEntry(2, 1, 1), 1))
	require.False(t, enter(someEntry(2, 2, 9), 1))
	require.Equal(t, []string{"snap-2-1", "snap-2-2"}, l.leave("snap-1-1"), "its volume still has the place, but they are who is next")
	require.False(t, enter(someEntry(2, 1, 1), 1))
	require.Equal(t, []string{"snap-2-1", "snap-2-2"}, l.leave("snap-1-2"))
	require.False(t, enter(someEntry(3, 1, 2), 1), "who was deleted later waits longer")
	require.True(t, enter(someEntry(2, 1, 1), 1))
	second := l.enter(someEntry(2, 2, 9), claim{works: true, limit: 2})
	require.True(t, second.granted)
	require.Equal(t, []string{"snap-3-1"}, second.enqueue, "a higher limit lets the next in")
	require.True(t, enter(someEntry(4, 1, 9), 0), "0 is no limit")
}

// After a restart they ask in any order: none goes before one that was deleted earlier.
func TestThoseThatWaitedKeepTheirOrderOverARestart(t *testing.T) {
	l := newPurgeQueue()
	require.True(t, l.enter(someEntry(1, 1, 0), claim{approved: true, works: true}).granted)
	l.expect(someEntry(2, 1, 1))
	l.expect(someEntry(3, 1, 2))
	require.Equal(t, []string{"snap-2-1"}, l.leave("snap-1-1"))
	require.False(t, l.enter(someEntry(3, 1, 2), claim{works: true, limit: 1}).granted)
	require.True(t, l.enter(someEntry(2, 1, 1), claim{works: true, limit: 1}).granted)
	require.Equal(t, []string{"snap-3-1"}, l.leave("snap-2-1"))
}

// A volume that stays detached must not block the purges of the others.
func TestAVolumeThatIsNotAttachedForLongGoesToTheEndOfTheLine(t *testing.T) {
	l, noon := newPurgeQueue(), time.Date(2026, 8, 1, 13, 0, 0, 0, time.UTC)
	enter := func(one entry, at time.Duration, works bool) answer {
		return l.enter(one, claim{now: noon.Add(at), works: works, limit: 1})
	}
	idle, more, next, last := someEntry(1, 1, 0), someEntry(1, 2, 1), someEntry(2, 1, 2), someEntry(3, 1, 3)
	require.True(t, enter(idle, 0, false).granted)
	require.True(t, enter(more, 0, false).granted)
	require.True(t, enter(idle, time.Hour, false).granted, "no other volume wants it")
	require.True(t, enter(idle, time.Hour, true).granted, "it is attached")
	require.Equal(t, answer{}, enter(next, time.Hour, false), "who works is left alone, however long it takes")
	require.Equal(t, []string{"snap-2-1"}, enter(idle, 2*time.Hour, false).enqueue, "it is detached: who waits asks when to come again")
	require.Equal(t, answer{again: idlePatience - time.Minute}, enter(next, 2*time.Hour+time.Minute, false))
	require.Equal(t, answer{}, enter(last, 2*time.Hour+time.Minute, false), "it has its entry later")

	late := 2*time.Hour + idlePatience
	got := enter(next, late, false)
	require.True(t, got.granted)
	require.Equal(t, []string{"snap-1-1", "snap-1-2", "snap-3-1"}, got.enqueue,
		"those that lost the place, and the next, since it may lose it, too")
	require.False(t, enter(idle, late, false).granted)
	require.False(t, enter(more, late, false).granted)
	require.Equal(t, []string{"snap-3-1"}, l.leave("snap-2-1"), "they are behind everybody")
	require.True(t, enter(last, late, true).granted)
	require.Equal(t, []string{"snap-1-1", "snap-1-2"}, l.leave("snap-3-1"))
	require.True(t, enter(idle, late, false).granted)
	require.True(t, enter(more, late, false).granted)
	l.leave("snap-1-1")
	l.leave("snap-1-2")
	require.Empty(t, l.nodes)
	require.Empty(t, l.where)
}

// A volume that is detached may be attached to another node for the rest of its work: its place on the first is free.
func TestAVolumeThatLeavesANodeLetsTheNextThereIn(t *testing.T) {
	l := newPurgeQueue()
	one := claim{works: true, limit: 1}
	require.True(t, l.enter(someEntry(1, 1, 0), one).granted)
	require.False(t, l.enter(someEntry(2, 1, 1), one).granted)
	require.False(t, l.enter(someEntry(2, 2, 3), one).granted)
	require.False(t, l.enter(someEntry(3, 1, 2), one).granted)
	elsewhere := someEntry(1, 1, 0)
	elsewhere.node = "node-2"
	require.Equal(t, answer{granted: true, enqueue: []string{"snap-2-1", "snap-2-2"}}, l.enter(elsewhere, one))
	require.True(t, l.enter(someEntry(2, 1, 1), one).granted)

	waits := someEntry(3, 1, 2)
	waits.node = "node-2"
	require.Equal(t, answer{enqueue: []string{"snap-2-2"}}, l.enter(waits, one), "it waits on node-2, and who is next on node-1 asks")
	require.Equal(t, []string{"snap-3-1"}, l.leave("snap-1-1"))
}

// Whatever enters and leaves, there are never more volumes than the limit, and each is served.
func TestEverybodysTurnComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, limit := newPurgeQueue(), rapid.IntRange(1, 3).Draw(t, "limit")
		open := map[types.UID]entry{}
		for range rapid.IntRange(1, 20).Draw(t, "snapshots") {
			one := someEntry(rapid.IntRange(1, 6).Draw(t, "volume"), rapid.IntRange(1, 3).Draw(t, "number"),
				rapid.IntRange(0, 59).Draw(t, "minute"))
			if _, known := open[one.uid]; !known {
				open[one.uid] = one
			}
		}
		byName, granted := map[string]entry{}, []entry{}
		ask := func(one entry) {}
		ask = func(one entry) {
			answer := l.enter(one, claim{works: true, limit: limit})
			if answer.granted {
				granted = append(granted, one)
			}
			for _, name := range answer.enqueue {
				if byName[name].uid != one.uid {
					ask(byName[name])
				}
			}
		}
		for _, one := range open {
			byName[one.name] = one
		}
		for _, one := range open {
			ask(one)
		}
		for len(open) > 0 {
			require.NotEmpty(t, granted, "none is served, and these wait: %v", l.all())
			one := granted[0]
			granted = granted[1:]
			if _, still := open[one.uid]; !still {
				continue
			}
			delete(open, one.uid)
			if n := l.nodes["node-1"]; n != nil {
				require.LessOrEqual(t, len(n.granted), limit)
			}
			for _, name := range l.leave(one.uid) {
				ask(byName[name])
			}
		}
		require.Empty(t, l.nodes)
	})
}
