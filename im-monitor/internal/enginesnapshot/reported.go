package enginesnapshot

import (
	"maps"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Reported is what Engine.status reports of the engine's snapshots after a poll that began then: what the poll lists, and what was reported before
// until its absence is proven. What ends a Snapshot is that its engine is not reported to have it, and one list may lack what is there; where
// nothing is kept it is the list itself. Unlisted of the memory is what was kept so; enqueue is when another poll may prove something, zero
// never.
//
//	lacks the head        → the list is not whole: nothing of what was reported is absent
//	removed by our call   → absent in the first poll that began after it was accepted
//	else                  → absent when two polls one run, the gap apart, both lack it
func Reported(before, listed map[string]v1beta2.SnapshotInfo, m Memory, began time.Time,
	gap time.Duration) (reported map[string]v1beta2.SnapshotInfo, unlisted map[string]time.Time, requeueAt time.Time) {
	unlisted = map[string]time.Time{}
	_, whole := listed[Head]
	kept := map[string]v1beta2.SnapshotInfo{}
	for name, info := range before {
		if _, there := listed[name]; there {
			continue
		}
		if !whole {
			kept[name] = info
			continue
		}
		since, again := m.Unlisted[name]
		if !again {
			since = began
		}
		if removed, ours := m.Removed[name]; ours && began.After(removed) || again && began.Sub(since) >= gap {
			continue
		}
		kept[name], unlisted[name] = info, since
		if at := since.Add(gap); requeueAt.IsZero() || at.Before(requeueAt) {
			requeueAt = at
		}
	}
	if len(kept) == 0 {
		return listed, unlisted, requeueAt
	}
	maps.Copy(kept, listed)
	return kept, unlisted, requeueAt
}
