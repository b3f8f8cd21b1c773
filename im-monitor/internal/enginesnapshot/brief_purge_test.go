package enginesnapshot

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAPurgeIsAfterATimeIfAnyOfItsSnapshotsWas(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.False(t, PurgedAfter(Memory{}, at))
	require.False(t, PurgedAfter(Memory{Purged: map[string]time.Time{"a": at}}, at))
	require.True(t, PurgedAfter(Memory{Purged: map[string]time.Time{"a": at.Add(-time.Hour), "b": at.Add(1)}}, at))
}

func TestOnlyWhatIsPurgedStaysAsItWasReported(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	before := list(Head, "purged", "other", "gone")
	listed := list(Head, "purged", "other", "new")
	for _, name := range []string{"purged", "other", "new"} {
		listed[name] = v1beta2.SnapshotInfo{Name: name, Removed: true}
	}
	given, was := maps.Clone(listed), maps.Clone(before)
	out := WithoutMarks(before, listed, Memory{Purged: map[string]time.Time{"purged": at, "gone": at, "new": at}})
	require.Equal(t, map[string]v1beta2.SnapshotInfo{Head: before[Head], "purged": before["purged"], "other": listed["other"],
		"new": listed["new"]}, out)
	require.Equal(t, given, listed)
	require.Equal(t, was, before)
}
