package enginesnapshot

import (
	"maps"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// PurgedAfter reports whether a purge for deleted Snapshots was accepted after that time.
func PurgedAfter(m Memory, at time.Time) bool {
	for _, accepted := range m.Purged {
		if accepted.After(at) {
			return true
		}
	}
	return false
}

// WithoutMarks returns the snapshots of Engine.status during a purge that is not reported yet: those that the purge is for are reported as
// before, without the mark of their removal. What is given is not changed.
func WithoutMarks(before, reported map[string]v1beta2.SnapshotInfo, m Memory) map[string]v1beta2.SnapshotInfo {
	out := maps.Clone(reported)
	for name := range m.Purged {
		_, there := out[name]
		if was, known := before[name]; there && known {
			out[name] = was
		}
	}
	return out
}
