package snapshotcontroller

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func someTurn(volume, number, minute int) turn {
	name := fmt.Sprintf("snap-%d-%d", volume, number)
	return turn{uid: types.UID(name), name: name, volume: fmt.Sprintf("vol-%d", volume), node: "node-1",
		since: time.Date(2026, 8, 1, 12, minute, 0, 0, time.UTC)}
}

func TestTheLineIsFairAndOneVolumeHasOnePlace(t *testing.T) {
	l := newLine()
	enter := func(t turn, limit int) bool { granted, _ := l.enter(t, false, limit); return granted }
	require.True(t, enter(someTurn(1, 1, 0), 1))
	require.True(t, enter(someTurn(1, 2, 5), 1), "one purge does for all of a volume")
	require.False(t, enter(someTurn(3, 1, 2), 1))
	require.False(t, enter(someTurn(2, 1, 1), 1))
	require.False(t, enter(someTurn(2, 2, 9), 1))
	require.Equal(t, []string{"snap-2-1", "snap-2-2"}, l.leave("snap-1-1"), "its volume still has the place, but they are who is next")
	require.False(t, enter(someTurn(2, 1, 1), 1))
	require.Equal(t, []string{"snap-2-1", "snap-2-2"}, l.leave("snap-1-2"))
	require.False(t, enter(someTurn(3, 1, 2), 1), "who was deleted later waits longer")
	require.True(t, enter(someTurn(2, 1, 1), 1))
	granted, next := l.enter(someTurn(2, 2, 9), false, 2)
	require.True(t, granted)
	require.Equal(t, []string{"snap-3-1"}, next, "a higher limit lets the next in")
	require.True(t, enter(someTurn(4, 1, 9), 0), "0 is no limit")
}

// Whoever comes and goes, there are never more volumes than the limit, and everybody's turn comes.
func TestEverybodysTurnComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, limit := newLine(), rapid.IntRange(1, 3).Draw(t, "limit")
		open := map[types.UID]turn{}
		for range rapid.IntRange(1, 20).Draw(t, "snapshots") {
			one := someTurn(rapid.IntRange(1, 6).Draw(t, "volume"), rapid.IntRange(1, 3).Draw(t, "number"), rapid.IntRange(0, 59).Draw(t, "minute"))
			if _, known := open[one.uid]; !known {
				open[one.uid] = one
			}
		}
		byName, granted := map[string]turn{}, []turn{}
		ask := func(one turn) {}
		ask = func(one turn) {
			ok, next := l.enter(one, false, limit)
			if ok {
				granted = append(granted, one)
			}
			for _, name := range next {
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
			require.NotEmpty(t, granted, "nobody is served, and these wait: %v", l.all())
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
