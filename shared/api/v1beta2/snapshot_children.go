package v1beta2

// VolumeHead is the part of a volume that is written to. Engines list it among the snapshots, and status.children of the one that it builds
// on has it; it is none.
const VolumeHead = "volume-head"

// SnapshotsByParent has the names of Snapshots by the name of the one that they build on.
func SnapshotsByParent(list []Snapshot) map[string][]string {
	out := map[string][]string{}
	for i := range list {
		if s := &list[i]; s.Status.Parent != "" {
			out[s.Status.Parent] = append(out[s.Status.Parent], s.Name)
		}
	}
	return out
}

// IsParentOfHead reports whether the volume's head builds on the snapshot. Its children are what it stored last; above are the names of
// those that build on it now. A newer snapshot takes the place of the head without a write to the one below: where one is not among what
// was stored, the head builds on that one, or on a later one.
func IsParentOfHead(children map[string]bool, above []string) bool {
	if !children[VolumeHead] {
		return false
	}
	for _, name := range above {
		if _, stored := children[name]; !stored {
			return false
		}
	}
	return true
}

// ChildrenOf are the names of what builds on the snapshot now, the volume's head among them.
func ChildrenOf(s *Snapshot, above []string) map[string]bool {
	out := map[string]bool{}
	for _, name := range above {
		out[name] = true
	}
	if IsParentOfHead(s.Status.Children, above) {
		out[VolumeHead] = true
	}
	return out
}
