package enginesnapshot

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

func list(names ...string) map[string]v1beta2.SnapshotInfo {
	out := map[string]v1beta2.SnapshotInfo{}
	for _, name := range names {
		out[name] = v1beta2.SnapshotInfo{Name: name}
	}
	return out
}

func TestASnapshotIsReportedUntilItsAbsenceIsProven(t *testing.T) {
	const gap = 5 * time.Second
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	before := list(Head, "a", "b")
	for _, c := range []struct {
		name      string
		listed    map[string]v1beta2.SnapshotInfo
		memory    Memory
		reported  map[string]v1beta2.SnapshotInfo
		kept      map[string]time.Time
		requeueAt time.Time
	}{
		{"all is listed", list(Head, "a", "b", "c"), Memory{}, list(Head, "a", "b", "c"), map[string]time.Time{}, time.Time{}},
		{"one poll lacks it", list(Head, "b"), Memory{}, before, map[string]time.Time{"a": began}, began.Add(gap)},
		{"a second poll lacks it too soon", list(Head, "b"), Memory{Unlisted: map[string]time.Time{"a": began.Add(-time.Second)}}, before,
			map[string]time.Time{"a": began.Add(-time.Second)}, began.Add(gap - time.Second)},
		{"two polls lack it, the gap apart", list(Head, "b"), Memory{Unlisted: map[string]time.Time{"a": began.Add(-gap)}}, list(Head, "b"),
			map[string]time.Time{}, time.Time{}},
		{"we removed it before the poll", list(Head, "b"), Memory{Removed: map[string]time.Time{"a": began.Add(-1)}}, list(Head, "b"),
			map[string]time.Time{}, time.Time{}},
		{"we removed it during the poll", list(Head, "b"), Memory{Removed: map[string]time.Time{"a": began.Add(1)}}, before,
			map[string]time.Time{"a": began}, began.Add(gap)},
		{"we removed it when the poll began", list(Head, "b"), Memory{Removed: map[string]time.Time{"a": began}}, before,
			map[string]time.Time{"a": began}, began.Add(gap)},
		{"a poll lacks both, one of them for the second time", list(Head), Memory{Unlisted: map[string]time.Time{"b": began.Add(-time.Second)}},
			before, map[string]time.Time{"a": began, "b": began.Add(-time.Second)}, began.Add(gap - time.Second)},
		{"a poll lacks both, the other one for the second time", list(Head), Memory{Unlisted: map[string]time.Time{
			"a": began.Add(-time.Second)}}, before, map[string]time.Time{"a": began.Add(-time.Second), "b": began}, began.Add(gap - time.Second)},
		{"the list is not complete",
			list("b"), Memory{Unlisted: map[string]time.Time{"a": began.Add(-gap)}}, before, map[string]time.Time{},
			time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reported, kept, requeueAt := Reported(before, c.listed, c.memory, began, gap)
			require.Equal(t, c.reported, reported)
			require.Equal(t, c.kept, kept)
			require.Equal(t, c.requeueAt, requeueAt)
		})
	}
}

// An existing snapshot that lists lack for less than the gap is always reported, and one that is gone is reported
// no longer than the gap after the first poll without it.
func TestAShortAbsenceFromTheListsEndsNoSnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const gap = 5 * time.Second
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		reported, memory := list(Head, "there", "gone"), Memory{}
		lackedSince := time.Time{}
		for range 20 {
			now = now.Add(time.Duration(rapid.IntRange(1, 4).Draw(t, "seconds")) * time.Second)
			listed := list(Head)
			if lacks := rapid.Bool().Draw(t, "lacks"); !lacks || !lackedSince.IsZero() && now.Sub(lackedSince) >= gap {
				listed, lackedSince = list(Head, "there"), time.Time{}
			} else if lackedSince.IsZero() {
				lackedSince = now
			}
			given := maps.Clone(listed)
			reported, memory.Unlisted, _ = Reported(reported, listed, memory, now, gap)
			require.Equal(t, given, listed)
			require.Contains(t, reported, "there")
		}
		require.NotContains(t, reported, "gone")
	})
}
