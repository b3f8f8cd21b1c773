package replica

import (
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// place finds disks for the missing replicas, and reports on the volume whether all that are wanted have a place.
func (w *World) place(g groups, n need, out *Verdict) {
	if w.waitsForNode(g) {
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonWaitingForNode,
			"The replica of a strict-local volume goes to the node where the volume is attached first.")
		return
	}
	if n.count > 0 && w.Volume.Spec.Size <= 0 {
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonSizeMissing,
			"The volume has no size: set spec.size to a number of bytes, such as \"10737418240\" for 10 GiB.")
		return
	}
	var refusal placement.Refusal
	taken := w.taken(g)
	for range n.count {
		disk, why := w.find(taken, n, out)
		if disk == nil {
			refusal = why
			break
		}
		out.Create = append(out.Create, *disk)
		taken = append(taken, placement.Place{Node: disk.Node, Zone: disk.Zone, DiskUUID: disk.UUID})
		w.promise(*disk)
	}
	w.reportPlaces(g, n, refusal, out)
}

// reportPlaces writes into the volume's condition why a replica or its rebuild waits.
func (w *World) reportPlaces(g groups, n need, refusal placement.Refusal, out *Verdict) {
	held, failing := "", ""
	if w.attached() {
		held, failing = w.heldRebuild(g), w.failing()
	}
	switch {
	case held != "":
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonRebuildHeld, held)
	case refusal.Reason != "" && !n.local:
		w.scheduled(out, v1beta2.ConditionFalse, refusal.Reason, refusal.Message)
	case len(out.WaitsFor) > 0 && !n.local:
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonRebuildLimit, w.waitsForSlot(out.WaitsFor))
	case failing != "" && len(g.staying) < w.Volume.Spec.NumberOfReplicas:
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonRebuildFails, failing)
	case n.count > 0 && len(out.WaitsFor) == 0, n.count == 0 && len(g.staying)+len(g.coming) >= w.Volume.Spec.NumberOfReplicas:
		w.scheduled(out, v1beta2.ConditionTrue, v1beta2.ReasonPlaced, "Every replica has a place.")
	case w.attached() && conditions.Reason(w.Volume.Status.Conditions, v1beta2.VolumeScheduled) == v1beta2.ReasonRebuildHeld:
		w.scheduled(out, v1beta2.ConditionTrue, v1beta2.ReasonPlaced, "A replica is being rebuilt, and others follow.")
	}
}

// waitsForSlot describes a rebuild that waits until fewer replicas are rebuilt on the nodes that would take it.
func (w *World) waitsForSlot(nodes []string) string {
	const shown = 3
	names := slices.Sorted(slices.Values(nodes))
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if len(names) > shown {
		text += ", …"
	}
	return fmt.Sprintf("The rebuild of a replica waits until fewer than %d are rebuilt on %s (setting %s).", w.Settings.RebuildsPerNode, text,
		setting.RebuildsPerNode)
}

// outdated reports whether a detached volume lacks replicas, and its condition reports no place for them: that may have changed, and an
// eviction or rebuild that would attach the volume waits for it.
func (w *World) outdated(g groups) bool {
	return w.everHealthy() && w.Volume.Status.State == v1beta2.VolumeStateDetached &&
		!w.strictLocal() && conditions.IsFalse(w.Volume.Status.Conditions, v1beta2.VolumeScheduled) &&
		len(g.healthy) > 0 && len(g.staying)+len(g.coming) < w.Volume.Spec.NumberOfReplicas
}

// checkPlace reports whether one more replica would have a place now. It creates none: that needs a running engine to copy from.
func (w *World) checkPlace(g groups, out *Verdict) {
	if !w.outdated(g) {
		return
	}
	disk, why := placement.Find(w.request(w.taken(g)), w.Candidates)
	if disk == nil && !slices.ContainsFunc(g.failed, w.isBack) {
		w.scheduled(out, v1beta2.ConditionFalse, why.Reason, why.Message)
		return
	}
	w.scheduled(out, v1beta2.ConditionTrue, v1beta2.ReasonPlaced, "Every replica has a place.")
}

// promise counts a replica that this pass placed already: its size, and the data that is copied to it.
func (w *World) promise(d placement.Disk) {
	data := int64(0)
	if w.everHealthy() {
		data = w.data()
	}
	for i := range w.Candidates {
		if c := &w.Candidates[i]; c.Name == d.Node {
			c.Scheduled = withMore(c.Scheduled, d.UUID, v1beta2.SizeOf(w.Volume))
			c.Copied = withMore(c.Copied, d.UUID, data)
		}
	}
}

// withMore returns a copy of a map with more bytes of one disk.
func withMore(bytes map[string]int64, disk string, more int64) map[string]int64 {
	out := map[string]int64{disk: more}
	for uuid, n := range bytes {
		out[uuid] += n
	}
	return out
}

func (w *World) strictLocal() bool {
	return w.Volume.Spec.DataLocality == v1beta2.DataLocalityStrictLocal
}

// fills reports whether the volume is to take the data of a backup or of another volume before anyone can use it: its own ticket attaches
// it for that, where its replicas are.
func (w *World) fills() bool {
	return w.Volume.Status.RestoreRequired || ticket.SourceOf(w.Volume) != ""
}

// FollowsWorkload reports whether the replica of a strict-local volume is placed before the volume is wanted on any node: it goes to the
// node of a workload that waits for the volume, or to any.
func FollowsWorkload(w World) bool {
	return ready(&w) && w.strictLocal() && w.Volume.Spec.NodeID == "" && w.fills() && !w.everHealthy()
}

func (w *World) waitsForNode(g groups) bool {
	return w.strictLocal() && w.Volume.Spec.NodeID == "" && len(g.healthy)+len(g.coming)+len(g.failed) == 0 && !w.fills()
}

// find searches for one disk. A rebuild takes a slot on its node: nodes without one are left out, and waited for if no other node will do.
func (w *World) find(taken []placement.Place, n need, out *Verdict) (*placement.Disk, placement.Refusal) {
	request := w.request(taken)
	if n.local {
		request.OnlyNode = w.Volume.Spec.NodeID
	}
	usable := w.elsewhere(request)
	free, full := usable, []string(nil)
	if w.everHealthy() {
		free = nil
		for _, c := range usable {
			if w.Rebuilding[c.Name] < w.Settings.RebuildsPerNode {
				free = append(free, c)
			} else {
				full = append(full, c.Name)
			}
		}
	}
	disk, why := placement.Find(request, free)
	if disk != nil || len(full) == 0 {
		return disk, why
	}
	if late, _ := placement.Find(request, usable); late != nil {
		out.WaitsFor = append(out.WaitsFor, full...)
		return nil, placement.Refusal{}
	}
	return nil, why
}

func (w *World) request(taken []placement.Place) placement.Request {
	v := w.Volume.Spec
	soft := func(own string, general bool) bool {
		switch own {
		case "enabled":
			return true
		case "disabled":
			return false
		}
		return general
	}
	r := placement.Request{
		DataEngine: v.DataEngine, Size: v1beta2.SizeOf(w.Volume), NodeSelector: v.NodeSelector, DiskSelector: v.DiskSelector, Taken: taken,
		NodeSoft:         soft(v.ReplicaSoftAntiAffinity, w.Settings.NodeSoftAntiAffinity),
		ZoneSoft:         soft(v.ReplicaZoneSoftAntiAffinity, w.Settings.ZoneSoftAntiAffinity),
		DiskSoft:         soft(v.ReplicaDiskSoftAntiAffinity, w.Settings.DiskSoftAntiAffinity),
		OverProvisioning: w.Settings.OverProvisioning, MinimalAvailable: w.Settings.MinimalAvailable,
		HonourCordon: w.Settings.DisableSchedulingOnCordoned,
	}
	if w.everHealthy() {
		r.Data = w.data()
	}
	switch v.DataLocality {
	case v1beta2.DataLocalityStrictLocal:
		if r.OnlyNode = v.NodeID; FollowsWorkload(*w) {
			r.OnlyNode = w.WorkloadNode
		}
	case v1beta2.DataLocalityBestEffort:
		r.PreferNode = v.NodeID
	}
	return r
}

// data is how many bytes one replica of the volume takes, as its engine reported last: all of its snapshots, and the head.
func (w *World) data() int64 {
	if w.Engine == nil {
		return 0
	}
	return DataOf(w.Engine)
}

// DataOf returns how many bytes one replica of an engine takes, as the engine reported last.
func DataOf(e *v1beta2.Engine) (sum int64) {
	for _, s := range e.Status.Snapshots {
		sum += max(v1beta2.BytesOf(s.Size), 0)
	}
	return sum
}

// taken returns the places of the volume's replicas. If a replica is evicted or deleted, and only serves until its successor has the data,
// its place is marked as leaving. Places of failed replicas count only before the first attachment, since later they are deleted.
func (w *World) taken(g groups) []placement.Place {
	list := slices.Concat(w.sources(g), g.coming)
	if !w.everHealthy() {
		list = append(list, g.failed...)
	}
	out := make([]placement.Place, 0, len(list))
	for _, r := range list {
		p := placement.Place{Node: r.Spec.NodeID, DiskUUID: r.Spec.DiskID, Leaves: w.leaves(r) || r.DeletionTimestamp != nil}
		if n := w.Nodes[r.Spec.NodeID]; n != nil {
			p.Zone = n.Status.Zone
		}
		out = append(out, p)
	}
	return out
}

func (w *World) scheduled(out *Verdict, status v1beta2.ConditionStatus, reason, message string) {
	c := v1beta2.Condition{Type: v1beta2.VolumeScheduled, Status: status, Reason: reason, Message: message}
	own := conditions.Owned(w.Volume.Status.Conditions, v1beta2.VolumeScheduled)
	list := conditions.Set(own, c, w.Now)
	out.Scheduled = nil // overrules what was decided earlier in this pass
	if !conditions.Equal(own, list) {
		out.Scheduled = &list[0]
	}
}
