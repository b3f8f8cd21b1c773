package inventory

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/im-monitor/internal/imclient"
)

// anInstance draws what a server may report: known words and others, few names, so that lists overlap.
func anInstance() *rapid.Generator[Instance] {
	text := rapid.SampledFrom([]string{"", "running", "stopped", "replica", "engine", "v1", "v2", "odd", "InstanceStatus", "u1", "u2"})
	return rapid.Custom(func(t *rapid.T) Instance {
		i := Instance{Type: text.Draw(t, "type"), DataEngine: text.Draw(t, "engine"), State: text.Draw(t, "state"),
			UUID: text.Draw(t, "uuid"), UUIDSource: imclient.UUIDSource(text.Draw(t, "source")), DiskUUID: text.Draw(t, "disk"),
			ErrorMsg: text.Draw(t, "error"), Endpoint: text.Draw(t, "endpoint"), PortStart: rapid.Int32Range(0, 2).Draw(t, "port"),
			PortEnd: rapid.Int32Range(0, 2).Draw(t, "end"), TargetPortStart: rapid.Int32Range(0, 2).Draw(t, "target"),
			TargetPortEnd: rapid.Int32Range(0, 2).Draw(t, "target end")}
		switch rapid.IntRange(0, 4).Draw(t, "more") {
		case 0:
			i.Replicas = map[string]string{}
		case 1:
			i.Replicas = map[string]string{"r": text.Draw(t, "address")}
		case 2:
			i.Frontend = &imclient.Frontend{EngineName: text.Draw(t, "frontend")}
		}
		return i
	})
}

func aList() *rapid.Generator[map[string]Instance] {
	return rapid.Custom(func(t *rapid.T) map[string]Instance {
		list := map[string]Instance{}
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-c]{1,2}`), rapid.ID[string]).Draw(t, "names") {
			i := anInstance().Draw(t, name)
			i.Name = name
			list[name] = i
		}
		return list
	})
}

// What is kept is the new list, whatever the one before was, and the difference is what a comparison of the two as maps finds.
func TestMergedListsAreTheNewOneAndTheirDifferenceIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, now := aList().Draw(t, "before"), aList().Draw(t, "now")
		for name, i := range before { // much of a list is as before
			if rapid.Bool().Draw(t, "same "+name) {
				now[name] = i
			}
		}
		kept, d := InstancesOf(before).merge(now)
		require.Equal(t, now, maps.Collect(kept.All()))
		require.Equal(t, len(now), kept.Len())
		require.ElementsMatch(t, slices.Sorted(maps.Keys(now)), kept.names())
		require.True(t, slices.IsSorted(kept.names()))
		var want difference
		for name, i := range now {
			earlier, there := before[name]
			require.Equal(t, i, kept.At(name))
			switch {
			case !there:
				want.added = append(want.added, name)
			case !reflect.DeepEqual(earlier, i):
				want.changed = append(want.changed, name)
			}
		}
		for name := range before {
			if _, there := now[name]; !there {
				want.removed = append(want.removed, name)
				require.False(t, kept.Has(name))
			}
		}
		for _, names := range [][]string{want.added, want.changed, want.removed} {
			slices.Sort(names)
		}
		require.Equal(t, want, d)
		again, none := kept.merge(now)
		require.Equal(t, kept, again)
		require.True(t, none.none())
	})
}
