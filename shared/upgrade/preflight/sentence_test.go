package preflight

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhichBlockersEndByThemselves(t *testing.T) {
	passing := map[Kind]bool{Purging: true, BackingUp: true}
	for _, rule := range nodeRules {
		require.False(t, rule.kind.Passes(), rule.kind)
	}
	for _, rule := range volumeRules {
		require.Equal(t, passing[rule.kind], rule.kind.Passes(), rule.kind)
	}
}

func TestBlockersAsOneText(t *testing.T) {
	for sentence, c := range map[string]struct {
		list []Blocker
		want string
	}{
		"none":      {nil, ""},
		"of a node": {[]Blocker{{Node: "a", Kind: NodeNotReady, Message: "repair it."}}, "Node a: NodeNotReady: repair it."},
		"of a volume": {[]Blocker{{Node: "a", Volume: "vol", Kind: Degraded, Message: "wait."}},
			"Node a, volume vol: Degraded: wait."},
		"the same of several nodes is reported once, where it was found first": {
			[]Blocker{{"b", "vol", Migrating, "wait."}, {"a", "", NodeNotReady, "repair it."}, {"a", "vol", Migrating, "wait."}},
			"Nodes b, a, volume vol: Migrating: wait. Node a: NodeNotReady: repair it."},
		"another volume, kind or message is another blocker": {
			[]Blocker{{"a", "v", Migrating, "x."}, {"b", "w", Migrating, "x."}, {"c", "v", Cloning, "x."}, {"d", "v", Migrating, "y."}},
			"Node a, volume v: Migrating: x. Node b, volume w: Migrating: x. Node c, volume v: Cloning: x. " +
				"Node d, volume v: Migrating: y."},
		"what ends by itself comes last": {
			[]Blocker{{"a", "v", Purging, "x."}, {"a", "v", Degraded, "y."}, {"a", "v", BackingUp, "z."}, {"b", "v", Purging, "x."}},
			"Node a, volume v: Degraded: y. Nodes a, b, volume v: RemovingSnapshot: x. Node a, volume v: BackingUp: z."},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, Sentence(c.list)) })
	}
}

func TestBlockersAreLeftAsTheyWereGiven(t *testing.T) {
	list := []Blocker{{"a", "v", Purging, "x."}, {"a", "v", Degraded, "y."}, {"b", "v", Purging, "x."}}
	before := append([]Blocker{}, list...)
	Sentence(list)
	require.Equal(t, before, list)
}

// A text of any number of blockers has to fit into an object.
func TestOfVeryManyBlockersTheFirstAreReportedAndTheOthersCounted(t *testing.T) {
	var list []Blocker
	for i := range 200 {
		list = append(list, Blocker{"a", fmt.Sprint("v", i), Degraded, "wait."})
	}
	require.Equal(t, 200, strings.Count(Sentence(list), "Degraded: wait."))
	require.NotContains(t, Sentence(list), "more")

	list = append([]Blocker{{"a", "w", Purging, "x."}, {"b", "w", Purging, "x."}}, list...)
	list = append(list, Blocker{"a", "w", Migrating, "y."}, Blocker{"a", "z", Migrating, "y."})
	text := Sentence(list)
	require.Equal(t, 200, strings.Count(text, "Degraded: wait."))
	require.True(t, strings.HasSuffix(text, " And 4 more: 2 Migrating, 2 RemovingSnapshot."), text[len(text)-80:])
}

func TestOfVeryManyNamesTheFirstAreListedAndTheOthersCounted(t *testing.T) {
	var names []string
	for i := range mostNames {
		names = append(names, fmt.Sprint(i))
	}
	require.Equal(t, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19", Names(names))
	require.Equal(t, Names(names)+" and 2 more", Names(append(names, "x", "y")))
	require.Empty(t, Names(nil))

	var list []Blocker
	for _, name := range append(names, "x") {
		list = append(list, Blocker{name, "", NoOtherNode, "enable v2."})
	}
	require.Equal(t, "Nodes "+Names(names)+" and 1 more: NoOtherNode: enable v2.", Sentence(list))
}
