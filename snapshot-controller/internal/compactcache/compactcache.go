package compactcache

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// mark is the first byte of what is kept compact.
const mark = "\x00"

func put(obj client.Object, text []byte) { obj.SetGenerateName(mark + string(text)) }

func get(obj client.Object) (reader, bool) {
	text, ok := strings.CutPrefix(obj.GetGenerateName(), mark)
	return reader{text}, ok
}

// Is reports whether something is kept compact in the object.
func Is(obj client.Object) bool {
	_, ok := get(obj)
	return ok
}

// Engine packs the engine's list of snapshots.
func Engine(e *v1beta2.Engine) {
	list := e.Status.Snapshots
	if len(list) == 0 {
		return
	}
	for _, info := range list {
		if denies(info.Children) {
			return
		}
	}
	put(e, writeList(list))
	e.Status.Snapshots = nil
}

// denies reports whether a map has a name with the value false. No controller writes that, and it is not kept compact.
func denies(children map[string]bool) bool {
	for _, is := range children {
		if !is {
			return true
		}
	}
	return false
}

// List is what the engine lists. An entry whose children are those that name it as their parent reports nothing of them.
func List(e *v1beta2.Engine) map[string]v1beta2.SnapshotInfo {
	if r, ok := get(e); ok {
		return r.list()
	}
	return e.Status.Snapshots
}

// OpenEngine gives the engine its list back. It is for copies, not for what the cache holds.
func OpenEngine(e *v1beta2.Engine) {
	if Is(e) {
		e.Status.Snapshots, e.GenerateName = List(e), ""
	}
}

// Snapshot packs the names of what builds on the snapshot.
func Snapshot(s *v1beta2.Snapshot) {
	children := s.Status.Children
	if len(children) == 0 || denies(children) {
		return
	}
	put(s, writeNames(nil, children))
	s.Status.Children = nil
}

// OpenSnapshot gives the snapshot the names back. It is for copies, not for what the cache holds.
func OpenSnapshot(s *v1beta2.Snapshot) {
	if r, ok := get(s); ok {
		s.Status.Children, s.GenerateName = r.names(), ""
	}
}

func writeNames(out []byte, names map[string]bool) []byte {
	out = binary.AppendUvarint(out, uint64(len(names)))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = writeText(out, name)
	}
	return out
}

func writeText(out []byte, text string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}
