package compactcache

import (
	"encoding/binary"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// Bits of an entry.
const (
	isRemoved = 1 << iota
	isUserCreated
	isNamedOtherwise // its name is not its key
	hasChildren      // it lists its children
	hasLabels
)

// writeList writes the entries by name, each with its parent as a number where the parent is one of them.
func writeList(list map[string]v1beta2.SnapshotInfo) []byte {
	keys := slices.Sorted(maps.Keys(list))
	numbers, named := make(map[string]int, len(keys)), make(map[string]int, len(keys))
	for i, key := range keys {
		numbers[key] = i
		named[list[key].Parent]++
	}
	out := binary.AppendUvarint(nil, uint64(len(keys)))
	for _, key := range keys {
		info := list[key]
		if reported(list, key, named[key]) {
			info.Children = nil
		}
		out = writeInfo(writeText(out, key), key, info)
		if number, ok := numbers[info.Parent]; ok {
			out = binary.AppendUvarint(out, uint64(number)+1)
			continue
		}
		out = writeText(binary.AppendUvarint(out, 0), info.Parent)
	}
	return out
}

func writeInfo(out []byte, key string, info v1beta2.SnapshotInfo) []byte {
	bits := bitsOf(key, info)
	out = append(out, bits)
	out = writeText(writeText(out, info.Created), info.Size)
	if bits&isNamedOtherwise != 0 {
		out = writeText(out, info.Name)
	}
	if bits&hasChildren != 0 {
		out = writeNames(out, info.Children)
	}
	if bits&hasLabels != 0 {
		out = binary.AppendUvarint(out, uint64(len(info.Labels)))
		for _, label := range slices.Sorted(maps.Keys(info.Labels)) {
			out = writeText(writeText(out, label), info.Labels[label])
		}
	}
	return out
}

func bitsOf(key string, info v1beta2.SnapshotInfo) byte {
	return bit(info.Removed, isRemoved) | bit(info.UserCreated, isUserCreated) | bit(info.Name != key, isNamedOtherwise) |
		bit(info.Children != nil, hasChildren) | bit(len(info.Labels) > 0, hasLabels)
}

func bit(is bool, of byte) byte {
	if is {
		return of
	}
	return 0
}

// reported reports whether an entry's children are exactly those, so many, that name it as their parent. It is what is read again, so
// that an entry that lists an empty map must have none, and be distinguished from an entry that lists nothing.
func reported(list map[string]v1beta2.SnapshotInfo, name string, many int) bool {
	children := list[name].Children
	if children == nil || len(children) != many {
		return false
	}
	for child, is := range children {
		if other, there := list[child]; !is || !there || other.Parent != name {
			return false
		}
	}
	return true
}
