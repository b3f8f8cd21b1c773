package fault

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var target = Target{Node: "node-1", Pod: "im-1", DataEngine: "v1"}

func TestARuleConcernsWhomItSelects(t *testing.T) {
	for _, c := range []struct {
		name     string
		rule     Rule
		concerns bool
	}{
		{"no selector means all", Rule{}, true},
		{"its own node", Rule{Node: "node-1"}, true},
		{"another node", Rule{Node: "node-2"}, false},
		{"a pattern of nodes", Rule{Node: "node-*"}, true},
		{"another data engine", Rule{DataEngine: "v2"}, false},
		{"another method", Rule{Method: "InstanceDelete"}, false},
		{"a pattern of methods", Rule{Method: "Instance*"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s Set
			c.rule.Kind = Error
			_, err := s.Add(c.rule)
			require.NoError(t, err)
			_, ok := s.Take(Error, target, "InstanceList", false)
			require.Equal(t, c.concerns, ok)
		})
	}
}

func TestARuleIsUsedUpAfterItsTimes(t *testing.T) {
	var s Set
	changed := s.Changed()
	_, err := s.Add(Rule{Kind: Error, Times: 2})
	require.NoError(t, err)
	<-changed
	for _, want := range []bool{true, true, false} {
		_, ok := s.Take(Error, target, "InstanceList", false)
		require.Equal(t, want, ok)
	}
	require.Empty(t, s.List())
}

func TestARuleThatIsNotUnderstoodIsRefused(t *testing.T) {
	var s Set
	for _, r := range []Rule{{}, {Kind: "flood"}, {Kind: Events, Mode: "eat"}, {Kind: Error, Node: "["}} {
		_, err := s.Add(r)
		require.Error(t, err)
	}
	require.Empty(t, s.List())
}

func TestRulesAreClearedByIDByNodeOrAll(t *testing.T) {
	var s Set
	for _, r := range []Rule{{ID: "a", Kind: Hang, Node: "node-1"}, {ID: "b", Kind: Hang, Node: "node-2"}, {ID: "c", Kind: Hang},
		{ID: "c", Kind: Error}} {
		_, err := s.Add(r)
		require.NoError(t, err)
	}
	require.Len(t, s.List(), 3, "the same ID replaces")
	require.Equal(t, 1, s.Clear("a", ""))
	require.Equal(t, 1, s.Clear("", "node-2"))
	require.Equal(t, 1, s.Clear("", ""))
}

func TestDurationsAreTextInJSON(t *testing.T) {
	data, err := json.Marshal(Rule{Kind: Latency, Delay: Duration(1500 * time.Millisecond)})
	require.NoError(t, err)
	require.Contains(t, string(data), `"delay":"1.5s"`)
	var r Rule
	require.NoError(t, json.Unmarshal(data, &r))
	require.Equal(t, Duration(1500*time.Millisecond), r.Delay)
	require.Error(t, json.Unmarshal([]byte(`{"delay":"soon"}`), &r))
}
