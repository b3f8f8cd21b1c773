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

	// taken are the snapshots that were requested and are not listed yet.
	taken int
}

// OfVolume are those of a volume, which its engines get: its own number of snapshots, else the setting's.
func OfVolume(v *v1beta2.Volume, setting int) Limits {
	count := v.Spec.SnapshotMaxCount
	if count <= 0 {
		count = setting
	}
	return Limits{Count: count, Bytes: v.Spec.SnapshotMaxSize, CountOnly: v.Spec.DataEngine == v1beta2.DataEngineV2}
}

// OfEngine are those of a running engine as of the last poll that requested them, else those of its spec.
func OfEngine(e *v1beta2.Engine) Limits {
	l := Limits{Count: e.Status.SnapshotMaxCount, Bytes: e.Status.SnapshotMaxSize, CountOnly: e.Spec.DataEngine == v1beta2.DataEngineV2}
	if l.Count <= 0 {
		l.Count, l.Bytes = CountOfSpec(e.Spec.SnapshotMaxCount), e.Spec.SnapshotMaxSize
	}
	return l
}

// CountOfSpec is the number of snapshots that an instance is started with whose spec has this one: 0 would refuse every snapshot.
func CountOfSpec(count int) int {
	if count > 0 {
		return count
	}
	return MaxDisks
}

// Less are the limits after this number of further snapshots was requested. None of them has bytes yet that the list lacks.
func (l Limits) Less(taken int) Limits {
	l.taken += taken
	return l
}

// Count is how many snapshots of an engine's list count: not its head, and none that is marked as removed.
func Count(list map[string]v1beta2.SnapshotInfo) int {
	count := 0
	for name, info := range list {
		if name != Head && !info.Removed {
			count++
		}
	}
	return count
}

// Reached returns the limit that one more snapshot would exceed, as a sentence that names the volume and the next step; empty: none.
func Reached(volume string, list map[string]v1beta2.SnapshotInfo, l Limits) string {
	count := Count(list) + l.taken
	if l.Count != 0 && count >= l.Count {
		return fmt.Sprintf("Volume %s has %d snapshots and may have %d; delete some, or raise snapshotMaxCount.", volume, count, l.Count)
	}
	if l.CountOnly {
		return ""
	}
	if disks := len(list) + l.taken; disks >= MaxDisks {
		return fmt.Sprintf("The replicas of volume %s have %d disks and may have %d, removed snapshots that are not merged yet included; "+
			"delete some snapshots.", volume, disks, MaxDisks)
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
