// Package snapshotlimit is the engine's own rule of when it takes no further snapshot: a user's, or the one that the addition of a replica
// takes. Its only input is an engine's list of snapshots.
package snapshotlimit

import (
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
)

// Head is the entry that every engine lists beside its snapshots.
const Head = v1beta2.VolumeHead

// MaxDisks is how many disks a replica may have: its head, and removed snapshots that are not merged yet, too.
const MaxDisks = 250

// Limits are those of one engine; 0 is none.
type Limits struct {
	Count int
	Bytes int64
	// CountOnly is true for v2, which limits nothing else.
	CountOnly bool
}

// Less are the limits after this number of further snapshots was requested. The first of them seals the head, so that bytes are not checked
// again.
func (l Limits) Less(taken int) Limits {
	if l.Count > 0 {
		if l.Count -= taken; l.Count <= 0 {
			l.Count = -1
		}
	}
	return l
}

// Reached returns the limit that one more snapshot would exceed, as a sentence that names the volume and the next step; empty: none.
func Reached(volume string, list map[string]v1beta2.SnapshotInfo, l Limits) string {
	count := 0
	for name, info := range list {
		if name != Head && !info.Removed {
			count++
		}
	}
	if l.Count != 0 && count >= l.Count {
		return fmt.Sprintf("Volume %s has %d snapshots and may have %d; delete some, or raise snapshotMaxCount.", volume, count, l.Count)
	}
	if l.CountOnly {
		return ""
	}
	if len(list) >= MaxDisks {
		return fmt.Sprintf("The replicas of volume %s have %d disks and may have %d, removed snapshots that are not merged yet included; "+
			"delete some snapshots.", volume, len(list), MaxDisks)
	}
	head, taken := v1beta2.BytesOf(list[Head].Size), int64(0)
	for info, ok := list[list[Head].Parent]; ok; info, ok = list[info.Parent] {
		if !info.Removed {
			taken += v1beta2.BytesOf(info.Size)
		}
		if info.Parent == info.Name {
			break
		}
	}
	if l.Bytes > 0 && head > l.Bytes-taken {
		return fmt.Sprintf("The snapshots of volume %s have %d bytes, its head has %d, and they may have %d together; delete some, or "+
			"raise snapshotMaxSize.", volume, taken, head, l.Bytes)
	}
	return ""
}
