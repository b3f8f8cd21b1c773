package disk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Decide returns what is to be written and called for the disks of one node. Calls are only valid on a status that was read past the
// cache, and after the changes were written.
func Decide(w World) Verdict {
	v := Verdict{Changes: map[string]*v1beta2.DiskStatus{}}
	owners := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(w.Status)) {
		if uuid := w.Status[key].DiskUUID; uuid != "" && w.Status[key].DiskType == v1beta2.DiskTypeBlock && owners[uuid] == "" {
			owners[uuid] = key
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Specs)) {
		spec := w.Specs[key]
		if spec.DiskType != v1beta2.DiskTypeBlock || IsLeftOver(w.Status[key]) {
			continue
		}
		d := &one{World: w, key: key, spec: spec, old: w.Status[key], owners: owners}
		d.decide()
		if _, known := w.Status[key]; !known || !same(d.old, d.out) {
			v.Changes[key] = &d.out
		}
		v.add(d)
	}
	for _, key := range slices.Sorted(maps.Keys(w.Status)) {
		if w.Specs[key].DiskType != v1beta2.DiskTypeBlock && w.Status[key].DiskType == v1beta2.DiskTypeBlock {
			w.leave(key, &v)
		}
	}
	return v
}

// IsLeftOver reports whether the status of a key whose spec names a v2 disk still belongs to a v1 disk: its UUID is no lvstore's, and
// disk-controller removes it.
func IsLeftOver(s v1beta2.DiskStatus) bool { return s.DiskType == v1beta2.DiskTypeFilesystem }

func (v *Verdict) add(d *one) {
	if d.call != nil {
		v.Calls = append(v.Calls, *d.call)
	}
	if d.list {
		v.List = append(v.List, d.key)
	}
	v.Relist = v.Relist || d.relist
	v.again(d.after)
}

// again keeps the earliest time to decide again.
func (v *Verdict) again(after time.Duration) {
	if after > 0 && (v.After == 0 || after < v.After) {
		v.After = after
	}
}

// leave takes a disk out that left the spec: out of the server first, where nothing uses it, then out of the status.
func (w World) leave(key string, v *Verdict) {
	old := w.Status[key]
	if why := w.needed(old.DiskUUID); why != "" {
		out := old
		out.Conditions = ready(old.Conditions, w.Now, v1beta2.ConditionFalse, v1beta2.ReasonNoDiskInfo, fmt.Sprintf(
			"Disk %s left the spec of node %s, and stays: %s", key, w.Node, why))
		if !same(old, out) {
			v.Changes[key] = &out
		}
		v.again(LatePause)
		return
	}
	if w.Server != nil {
		v.Calls = append(v.Calls, Call{Key: key, Op: OpDelete, Path: old.DiskPath, UUID: old.DiskUUID,
			Driver: deleteDriver(v1beta2.DiskSpec{Path: old.DiskPath}, old)})
	}
	v.Changes[key] = nil
}

// needed reports why a disk cannot be released; empty where it can. With it goes the record of its UUID and of what it held at first.
func (w World) needed(uuid string) string {
	switch {
	case uuid == "":
		return ""
	case w.Server == nil && !w.NoManager:
		return "its instance manager does not answer. It is released once that does."
	}
	if name := w.firstReplica(func(r Replica) bool { return r.DiskID == uuid }); name != "" {
		return fmt.Sprintf("replica %s has data on it. Move every replica of the disk to another disk or delete it, or put the disk "+
			"back into the spec.", name)
	}
	if w.Server != nil && (w.Server.InUse == nil || w.Server.InUse[uuid]) {
		return "its instance manager lists running replicas on it. It is released once they have ended."
	}
	return ""
}

// firstReplica is the name that sorts first of the Replicas that match, or "": a cache lists them in any order, and a message that
// names one of them must not change with it.
func (w World) firstReplica(match func(Replica) bool) string {
	first := ""
	for _, r := range w.Replicas {
		if match(r) && (first == "" || r.Name < first) {
			first = r.Name
		}
	}
	return first
}

// one is the decision about one disk.
type one struct {
	World
	key      string
	spec     v1beta2.DiskSpec
	old, out v1beta2.DiskStatus
	owners   map[string]string
	call     *Call
	list     bool
	relist   bool
	after    time.Duration
	ready    bool
}

func (d *one) decide() {
	d.out = d.old
	d.out.DiskType = v1beta2.DiskTypeBlock
	if d.out.DiskPath == "" || d.old.DiskUUID == "" {
		d.out.DiskPath = d.spec.Path
	}
	switch {
	case d.Server == nil:
		d.not(v1beta2.ReasonNoDiskInfo, "No v2 instance manager of node %s answers for disk %s: see the node's InstanceManagers.", d.Node,
			d.key)
	case !d.answered():
	case d.answer().Unknown:
		d.unknown()
	case d.answer().State == v1beta2.DiskLoadCreating:
		d.creating()
	case d.answer().State == v1beta2.DiskLoadError:
		d.failed()
	case d.answer().State == v1beta2.DiskLoadReady:
		d.reported()
	default:
		d.not(v1beta2.ReasonNoDiskInfo, "The instance manager %s reports the unknown state %q of disk %s.", d.Server.Name, d.answer().State,
			d.key)
		d.after = LatePause
	}
	d.nodeReady()
	d.figures()
}

// nodeReady: a disk is not ready while its node is not. Where a person must decide about the disk, its own reason stays.
func (d *one) nodeReady() {
	reason := conditions.Reason(d.out.Conditions, v1beta2.DiskReady)
	if d.NodeNotReady == "" || reason != v1beta2.ReasonDiskReady && reason != v1beta2.ReasonNoDiskInfo {
		return
	}
	d.ready = false
	d.not(v1beta2.ReasonNodeNotReady, "Node %s is not ready: %s", d.Node, d.NodeNotReady)
}

func (d *one) answer() Answer { return d.Server.Answers[d.key] }

// answered reports whether the server reported anything about the disk.
func (d *one) answered() bool {
	answer, asked := d.Server.Answers[d.key]
	if asked && answer.Failed == "" {
		return true
	}
	if at, ok := d.requestedAt(); !ok || !d.Now.Before(at.Add(d.CallTimeout)) {
		d.endLoad()
	}
	why := answer.Failed
	if !asked {
		why = "it was not asked yet"
	}
	if answer.Vanished {
		d.not(v1beta2.ReasonNoDiskInfo, "The device of disk %s at %s vanished while the instance manager %s had it loaded, which still "+
			"has its old entry: it is not loaded "+
			"again by itself. Put the device back; then restart the pod %s when no engine runs on node %s. (%s)", d.key, d.spec.Path,
			d.Server.Name, d.Server.Name, d.Node, why)
		d.after = LatePause
		return false
	}
	d.not(v1beta2.ReasonNoDiskInfo, "The instance manager %s gave no answer about disk %s at %s: %s", d.Server.Name, d.key, d.spec.Path,
		why)
	d.pause()
	return false
}

// pause is short while the latest attempt is young, then long.
func (d *one) pause() {
	d.after = LatePause
	if at, ok := d.requestedAt(); ok && d.Now.Sub(at) < soon {
		d.after = SoonPause
	}
}

// not reports why the disk is not ready.
func (d *one) not(reason, format string, args ...any) {
	d.out.Conditions = ready(d.old.Conditions, d.Now, v1beta2.ConditionFalse, reason, fmt.Sprintf(format, args...))
}

func ready(old []v1beta2.Condition, now time.Time, status v1beta2.ConditionStatus, reason, message string) []v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.DiskReady, Status: status, Reason: reason, Message: message}
	out := conditions.Set(conditions.Owned(old, v1beta2.DiskReady, v1beta2.DiskSchedulable), c, now)
	if status != v1beta2.ConditionTrue {
		schedulable := v1beta2.ReasonDiskNotReady
		if reason == v1beta2.ReasonNodeNotReady {
			schedulable = reason
		}
		out = conditions.Set(out, v1beta2.Condition{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionFalse, Reason: schedulable,
			Message: message}, now)
	}
	return out
}

// reported is a disk that the server has loaded.
func (d *one) reported() {
	answer := d.answer()
	if d.old.DiskUUID == "" && !d.mayRecord() {
		d.endLoad()
		return
	}
	if why := d.another(); why != "" {
		d.not(v1beta2.ReasonDiskFilesystemChanged, "%s", why)
		d.endLoad()
		d.after = LatePause
		return
	}
	d.ready = true
	d.owners[answer.UUID] = d.key
	d.out.DiskUUID, d.out.DiskName, d.out.DiskDriver, d.out.DiskPath = answer.UUID, answer.Name, answer.Driver,
		cmp.Or(answer.Path, d.spec.Path)
	d.out.InstanceManagerName = d.Server.Name
	d.out.Conditions = ready(d.old.Conditions, d.Now, v1beta2.ConditionTrue, v1beta2.ReasonDiskReady,
		fmt.Sprintf("Disk %s is loaded.", d.key)+d.moved()+d.claimedElsewhere())
	d.noteReady()
	d.acknowledge()
	d.relists()
}

// another reports why the lvstore that the server has loaded is not the disk's; empty where it is.
func (d *one) another() string {
	uuid := d.answer().UUID
	recorded := cmp.Or(d.old.DiskUUID, uuid)
	switch owner := d.owners[uuid]; {
	case uuid == "" || uuid != recorded:
		return fmt.Sprintf("Disk %s at %s holds the lvstore with UUID %q, recorded is %s. Put the device with the recorded lvstore back, "+
			"or move all replicas to another disk, remove the disk from the spec, and add it again.", d.key, d.spec.Path, uuid, recorded)
	case owner != "" && owner != d.key:
		return fmt.Sprintf("Disk %s at %s holds the lvstore of disk %s: take one of the two out of the spec of node %s.", d.key,
			d.spec.Path, owner, d.Node)
	}
	return ""
}

// settled is when the lists of a loaded disk count; false where it was never seen ready.
func (d *one) settled() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, d.out.Load.ReadyAt)
	return at.Add(d.Settle), err == nil
}

// relists asks for a whole list once the disk is settled, where none began since.
func (d *one) relists() {
	due, known := d.settled()
	if !known || !d.Server.Listed.Before(due) {
		return
	}
	wait := SoonPause
	if d.relist = !d.Now.Before(due); !d.relist {
		wait = due.Sub(d.Now)
	}
	if d.after == 0 || wait < d.after {
		d.after = wait
	}
}

// moved reports that the spec has another path than the device that is loaded.
func (d *one) moved() string {
	if d.out.DiskPath == d.spec.Path {
		return ""
	}
	return fmt.Sprintf(" It was loaded from %s; the path %s of the spec counts from the next start of its instance manager on.",
		d.out.DiskPath, d.spec.Path)
}

// claimedElsewhere reports the first Replica of another node that has the UUID of this disk: the disk moved here, or is a copy. The Replica
// stays a replica of its own node, and its data on this disk does not count.
func (d *one) claimedElsewhere() string {
	var first *Claim
	for i, c := range d.Elsewhere {
		if c.DiskID == d.out.DiskUUID && (first == nil || c.Name < first.Name) {
			first = &d.Elsewhere[i]
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf(" Replica %s of node %s names this disk by its UUID: it moved from that node, or is a copy. Put it back there, or "+
		"delete the replicas of that node that name it.", first.Name, first.Node)
}

// acknowledge records what the disk held when it was first loaded, once that is listed completely.
func (d *one) acknowledge() {
	if d.old.AcknowledgedAt != "" {
		return
	}
	if due, known := d.settled(); known && d.Now.Before(due) {
		d.after = due.Sub(d.Now)
		return
	}
	held, listed := d.Server.Contents[d.key]
	if !listed {
		d.list, d.after = true, SoonPause
		return
	}
	claimed := map[string]bool{}
	for _, r := range d.Replicas {
		claimed[r.Name] = claimed[r.Name] || r.DiskID == d.out.DiskUUID
	}
	d.out.AcknowledgedAt = stamp(d.Now)
	d.out.AcknowledgedReplicas = nil
	for _, name := range slices.Sorted(slices.Values(held)) {
		if !claimed[name] {
			d.out.AcknowledgedReplicas = append(d.out.AcknowledgedReplicas, name)
		}
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
