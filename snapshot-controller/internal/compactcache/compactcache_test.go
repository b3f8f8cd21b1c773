package compactcache

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// names are few, so that entries name each other.
var names = rapid.SampledFrom([]string{"", "a", "b", "snapshot-of-a-usual-length", "volume-head"})

func anyInfo(t *rapid.T, key string) v1beta2.SnapshotInfo {
	info := v1beta2.SnapshotInfo{
		Name: rapid.SampledFrom([]string{key, "", "other"}).Draw(t, "name"), Parent: names.Draw(t, "parent"),
		Created: rapid.String().Draw(t, "created"),
		Size:    rapid.String().Draw(t, "size"), Removed: rapid.Bool().Draw(t, "removed"), UserCreated: rapid.Bool().Draw(t, "user"),
	}
	if rapid.Bool().Draw(t, "lists children") {
		info.Children = rapid.MapOf(names, rapid.Just(true)).Draw(t, "children")
	}
	if labels := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels"); len(labels) > 0 {
		info.Labels = labels
	}
	return info
}

// What an engine lists comes out as it went in, except for children that its other entries show.
func TestAListSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := map[string]v1beta2.SnapshotInfo{}
		for _, key := range rapid.SliceOfDistinct(names, rapid.ID).Draw(t, "keys") {
			list[key] = anyInfo(t, key)
		}
		e := &v1beta2.Engine{Status: v1beta2.EngineStatus{Snapshots: list}}
		Engine(e)
		require.Equal(t, len(list) > 0, Is(e))
		once := List(e)
		require.Len(t, once, len(list))
		for key, was := range list {
			is := once[key]
			if is.Children == nil {
				for child := range was.Children {
					require.Equal(t, key, list[child].Parent)
				}
			} else {
				require.Equal(t, was.Children, is.Children)
			}
			is.Children, was.Children = nil, nil
			require.Equal(t, was, is)
		}
		OpenEngine(e)
		require.False(t, Is(e))
		again := e.DeepCopy()
		Engine(again)
		OpenEngine(again)
		require.Equal(t, e.Status.Snapshots, again.Status.Snapshots)
	})
}

func TestChildrenSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		children := rapid.MapOfN(names, rapid.Bool(), 1, 4).Draw(t, "children")
		s := &v1beta2.Snapshot{Status: v1beta2.SnapshotStatus{Children: children}}
		Snapshot(s)
		OpenSnapshot(s)
		require.Equal(t, children, s.Status.Children)
		require.Empty(t, s.GenerateName)
	})
}

// A name that somebody had generated is not taken for something compact.
func TestANameIsNotPacked(t *testing.T) {
	s := &v1beta2.Snapshot{}
	s.GenerateName = "snapshot-"
	require.False(t, Is(s))
	OpenSnapshot(s)
	require.Equal(t, "snapshot-", s.GenerateName)
}
