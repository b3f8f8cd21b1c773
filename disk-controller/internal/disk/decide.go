package disk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Decide returns the changes and the preparations of the v1 disks of one node.
func Decide(w World) Verdict {
	v := Verdict{Changes: map[string]*v1beta2.DiskStatus{}}
	owners := w.owners()
	var all []*decision
	for _, key := range w.inOrder() {
		d := &decision{World: w, key: key, spec: w.Specs[key], old: w.Status[key], seen: w.Sights[key], owners: owners}
		d.decide()
		all = append(all, d)
	}
	for _, d := range all {
		if !conditions.IsTrue(d.out.Conditions, v1beta2.DiskReady) {
			d.decide() // again, with the disks that became ready after it: its message names the same disk at the next evaluation
		}
		v.AskElsewhere = v.AskElsewhere || d.askElsewhere
		if d.prepare {
			v.Prepare = append(v.Prepare, d.key)
		}
		if _, known := w.Status[d.key]; !known || !same(d.old, d.out) {
			v.Changes[d.key] = &d.out
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Status)) {
		if w.leftSpec(key) {
			w.leave(key, &v)
		}
	}
	return v
}

// inOrder returns the keys of the v1 disks of the spec. Ready disks come first, then disks with a recorded UUID, then disks with a
// configuration file: if two disks have one place, the disk in use stays. A key whose status is of a v2 disk is left to im-monitor
// until it is released.
func (w World) inOrder() []string {
	var keys []string
	for key, spec := range w.Specs {
		if spec.DiskType != v1beta2.DiskTypeBlock && w.Status[key].DiskType != v1beta2.DiskTypeBlock {
			keys = append(keys, key)
		}
	}
	rank := func(key string) int {
		switch s := w.Status[key]; {
		case conditions.IsTrue(s.Conditions, v1beta2.DiskReady):
			return 0
		case s.DiskUUID != "":
			return 1
		case w.Sights[key].UUID != "":
			return 2
		}
		return 3
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	return keys
}

// leftSpec reports whether a v1 disk with a status is not in the spec any more. A status without a type belongs to the type of its spec.
func (w World) leftSpec(key string) bool {
	spec, wanted := w.Specs[key]
	recorded := w.Status[key].DiskType
	return !wanted && recorded != v1beta2.DiskTypeBlock || spec.DiskType == v1beta2.DiskTypeBlock && recorded == v1beta2.DiskTypeFilesystem
}

// owners are the disks of the node by UUID and by file system. They begin with the UUIDs on record, except for disks that the
// same evaluation removes, and each ready disk is added.
type owners struct{ byUUID, byFilesystem map[string]string }

func (w World) owners() owners {
	out := owners{byUUID: map[string]string{}, byFilesystem: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(w.Status)) {
		uuid := w.Status[key].DiskUUID
		if removed := w.leftSpec(key) && w.firstReplica(uuid) == ""; uuid != "" && !removed && out.byUUID[uuid] == "" {
			out.byUUID[uuid] = key
		}
	}
	return out
}

// leave removes the status of a disk that left the spec, unless a Replica has data on it.
func (w World) leave(key string, v *Verdict) {
	old := w.Status[key]
	if name := w.firstReplica(old.DiskUUID); name != "" {
		out := withoutFigures(old)
		out.DiskType = v1beta2.DiskTypeFilesystem
		out.Conditions = notReady(old.Conditions, w, v1beta2.ReasonNoDiskInfo, fmt.Sprintf("Disk %s left the spec of node %s, and stays: "+
			"replica %s has data on it. Move every replica of the disk to another disk or delete it, or put the disk back into the spec.",
			key, w.Node, name))
		if !same(old, out) {
			v.Changes[key] = &out
		}
		return
	}
	v.Changes[key] = nil
}

// firstReplica returns the name that sorts first of the Replicas on a disk, or "": a cache lists them in any order.
func (w World) firstReplica(uuid string) string {
	first := ""
	for _, r := range w.Replicas {
		if uuid != "" && r.DiskID == uuid && (first == "" || r.Name < first) {
			first = r.Name
		}
	}
	return first
}

// decision is the decision about one disk.
type decision struct {
	World
	key          string
	spec         v1beta2.DiskSpec
	old, out     v1beta2.DiskStatus
	seen         Sight
	owners       owners
	prepare      bool
	askElsewhere bool
}

func (d *decision) decide() {
	d.out, d.prepare, d.askElsewhere = withoutFigures(d.old), false, false
	d.out.DiskType = v1beta2.DiskTypeFilesystem
	if d.old.DiskUUID == "" {
		d.out.DiskPath = d.spec.Path
	}
	reason, why := d.whyNotReady()
	if reason == "" && d.NodeNotReady != "" {
		reason, why = v1beta2.ReasonNodeNotReady, fmt.Sprintf("Node %s is not ready: %s", d.Node, d.NodeNotReady)
	}
	if reason != "" {
		d.out.Conditions = notReady(d.old.Conditions, d.World, reason, why)
		return
	}
	d.owners.byUUID[d.seen.UUID], d.owners.byFilesystem[d.seen.Filesystem] = d.key, d.key
	d.out.DiskUUID, d.out.DiskName, d.out.DiskPath, d.out.FilesystemType = d.seen.UUID, d.key, d.spec.Path, d.seen.Type
	d.out.Conditions = conditions.Set(conditions.Owned(d.old.Conditions, v1beta2.DiskReady, v1beta2.DiskSchedulable), v1beta2.Condition{
		Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonDiskReady,
		Message: fmt.Sprintf("Disk %s at %s has its configuration file.", d.key, d.spec.Path)}, d.Now)
	d.figures()
}

// whyNotReady returns why the directory is not the disk, with the reason of the condition; both are "" if it is.
func (d *decision) whyNotReady() (reason, why string) {
	switch {
	case d.seen.Problem != "":
		return v1beta2.ReasonNoDiskInfo, fmt.Sprintf("The directory %s of disk %s on node %s cannot be used: %s.", d.spec.Path, d.key,
			d.Node, d.seen.Problem)
	case d.seen.Unreadable != "":
		return d.changedOrUnknown(), fmt.Sprintf("The file longhorn-disk.cfg in %s, the directory of disk %s on node %s, cannot be used: %s. "+
			"It is never replaced: repair it, or choose another directory.", d.spec.Path, d.key, d.Node, d.seen.Unreadable)
	case d.old.DiskUUID != "":
		return d.whyAnother()
	}
	return d.whyNotRecorded()
}

// changedOrUnknown returns the reason of a directory without a usable file: it changed if it was the disk before.
func (d *decision) changedOrUnknown() string {
	if d.old.DiskUUID != "" {
		return v1beta2.ReasonDiskFilesystemChanged
	}
	return v1beta2.ReasonNoDiskInfo
}

// whyAnother returns why the directory is not the disk whose UUID is recorded.
func (d *decision) whyAnother() (reason, why string) {
	const changed = v1beta2.ReasonDiskFilesystemChanged
	switch {
	case d.seen.UUID == "":
		return changed, fmt.Sprintf("The directory %s of disk %s on node %s has no file longhorn-disk.cfg, and the UUID %s is recorded: mount "+
			"the disk there. If the file was deleted, write it again with that diskUUID.", d.spec.Path, d.key, d.Node, d.old.DiskUUID)
	case d.seen.UUID != d.old.DiskUUID:
		return changed, fmt.Sprintf("The directory %s of disk %s on node %s has the UUID %s, recorded is %s. Mount the recorded disk there, or "+
			"move all replicas to another disk, remove the disk from the spec, and add it again.", d.spec.Path, d.key, d.Node, d.seen.UUID,
			d.old.DiskUUID)
	case d.old.DiskPath != d.spec.Path && d.firstReplica(d.old.DiskUUID) != "":
		return changed, fmt.Sprintf("The path of disk %s on node %s changed from %s to %s, and replica %s names the old path: put the old "+
			"path back, or move all replicas to another disk first.", d.key, d.Node, d.old.DiskPath, d.spec.Path,
			d.firstReplica(d.old.DiskUUID))
	}
	return d.whyDuplicate()
}

// whyDuplicate returns why the directory is the place of another disk of the node.
func (d *decision) whyDuplicate() (reason, why string) {
	other := d.owners.byFilesystem[d.seen.Filesystem]
	if owner := d.owners.byUUID[d.seen.UUID]; d.seen.UUID != "" && owner != "" && owner != d.key {
		other = owner
	}
	if other == "" || other == d.key {
		return "", ""
	}
	return v1beta2.ReasonDiskFilesystemChanged, fmt.Sprintf("The directory %s of disk %s on node %s is on the file system of disk %s: their "+
		"space would count twice. Take one of the two out of the spec, or mount the right disk.", d.spec.Path, d.key, d.Node, other)
}

// whyNotRecorded returns why a directory does not become the disk, or not yet. A directory without a configuration file gets a file if it
// holds no replicas.
func (d *decision) whyNotRecorded() (reason, why string) {
	const unknown = v1beta2.ReasonNoDiskInfo
	if other := d.Elsewhere[d.seen.UUID]; d.seen.UUID != "" && other != "" {
		return v1beta2.ReasonDiskFilesystemChanged, fmt.Sprintf("The directory %s of disk %s on node %s has the UUID of %s: it moved from "+
			"there, or is a copy. Put it back, or remove that disk from the spec of its node first.", d.spec.Path, d.key, d.Node, other)
	}
	if reason, why := d.whyDuplicate(); reason != "" {
		return reason, why
	}
	switch {
	case d.seen.UUID == "" && d.seen.HasReplicas:
		return unknown, fmt.Sprintf("The directory %s of disk %s on node %s holds replicas and has no file longhorn-disk.cfg: they may be "+
			"another cluster's. Put the file back that belongs to them, or move the directory replicas away.", d.spec.Path, d.key, d.Node)
	case d.Elsewhere == nil:
		d.askElsewhere = true
		return unknown, fmt.Sprintf("The UUID of disk %s on node %s is compared with those of the other nodes.", d.key, d.Node)
	case d.seen.UUID == "":
		d.prepare, d.owners.byFilesystem[d.seen.Filesystem] = true, d.key
		return unknown, fmt.Sprintf("Disk %s on node %s gets its configuration file in %s.", d.key, d.Node, d.spec.Path)
	}
	return "", ""
}

// notReady sets both conditions of a disk that is not ready.
func notReady(old []v1beta2.Condition, w World, reason, message string) []v1beta2.Condition {
	schedulable := v1beta2.ReasonDiskNotReady
	if reason == v1beta2.ReasonNodeNotReady {
		schedulable = reason
	}
	out := conditions.Owned(old, v1beta2.DiskReady, v1beta2.DiskSchedulable)
	out = conditions.Set(out, v1beta2.Condition{Type: v1beta2.DiskReady, Status: v1beta2.ConditionFalse, Reason: reason, Message: message},
		w.Now)
	return conditions.Set(out, v1beta2.Condition{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionFalse, Reason: schedulable,
		Message: message}, w.Now)
}
