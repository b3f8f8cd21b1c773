package enginesnapshot

import (
	"maps"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Reported returns the snapshots of Engine.status after a poll that began at that time: those that the poll lists, and those reported
// before until their absence is proven. A Snapshot ends when Engine.status lacks it, and one list may lack an existing snapshot. Without
// such snapshots the result is the list itself. Memory.Unlisted are the snapshots kept this way; requeueAt is when another poll may prove
// an absence, zero never.
//
//	lacks the head        → the list is not complete: no reported snapshot is absent
//	removed by our call   → absent in the first poll that began after the call was accepted
//	else                  → absent when two polls of one run, the gap apart, both lack it
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
