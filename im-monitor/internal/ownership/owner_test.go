package ownership

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOwner(t *testing.T) {
	cases := []struct {
		name  string
		world World
		want  string
	}{
		{"an object without a node has no owner", World{Owner: "node-1", FirstReady: "node-1"}, ""},
		{"its node while that is not down", World{NodeID: "node-1"}, "node-1"},
		{"none before its first status", World{NodeID: "node-1", Unreported: true}, ""},
		{"an owner stays before the first status", World{NodeID: "node-1", Owner: "node-1", Unreported: true}, "node-1"},
		{"a node that is down is stood in for before the first status",
			World{NodeID: "node-1", Unreported: true, Down: true, FirstReady: "node-2"}, "node-2"},
		{"its node again when that comes back", World{NodeID: "node-1", Owner: "node-2", OwnerReady: true}, "node-1"},
		{"the first ready node in its place", World{NodeID: "node-1", Owner: "node-1", Down: true, FirstReady: "node-2"}, "node-2"},
		{"the stand-in stays while it is ready",
			World{NodeID: "node-1", Owner: "node-3", OwnerReady: true, Down: true, FirstReady: "node-2"}, "node-3"},
		{"a stand-in that is not ready is replaced", World{NodeID: "node-1", Owner: "node-3", Down: true, FirstReady: "node-2"}, "node-2"},
		{"no one where no node is ready", World{NodeID: "node-1", Owner: "node-1", Down: true}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Owner(c.world)) })
	}
}

func TestDecidingAgainChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"", "node-1", "node-2", "node-3"})
		w := World{NodeID: name.Draw(t, "node"), Owner: name.Draw(t, "owner"), Down: rapid.Bool().Draw(t, "down"),
			Unreported: rapid.Bool().Draw(t, "unreported"),
			OwnerReady: rapid.Bool().Draw(t, "owner ready"), FirstReady: name.Draw(t, "first")}
		again := w
		again.Owner = Owner(w)
		again.OwnerReady = again.Owner == w.FirstReady && again.Owner != "" || (again.Owner == w.Owner && w.OwnerReady)
		require.Equal(t, again.Owner, Owner(again))
		if w.Down && w.NodeID != "" {
			require.NotEqual(t, w.NodeID, again.Owner, "a node that is down owns nothing")
		}
	})
}
