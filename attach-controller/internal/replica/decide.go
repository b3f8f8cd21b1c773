package replica

import (
	"slices"
	"time"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Needs tells that Decide may place replicas, and has to be given the candidates.
func Needs(w World) bool {
	return ready(&w) && w.missing(w.groups()).count > 0
}

// Decide is total and deterministic; deciding again on a world in which its writes were done changes nothing until
// somebody else moves.
func Decide(w World) Verdict {
	var out Verdict
	w.remove(&out)
	if !ready(&w) {
		return out
	}
	out.Image = w.Image()
	if w.Engine != nil {
		out.Engine = w.Engine.Name
	}
	g := w.groups()
	w.mark(g, &out)
	need := w.missing(g)
	if !need.until.IsZero() {
		out.wake(need.until)
	}
	need.count -= w.takeBack(g, need, &out)
	w.place(g, need, &out)
	w.tidy(g, &out)
	return out
}

// ready: the volume has its defaults and its finalizer, and stays.
func ready(w *World) bool {
	v := w.Volume
	return v != nil && v.DeletionTimestamp == nil && v.Spec.DataEngine != "" && v.Spec.NumberOfReplicas > 0 &&
		slices.Contains(v.Finalizers, v1beta2.Finalizer) && v.Status.State != "" && v.Status.State != v1beta2.VolumeStateCreating
}

// mark writes down which replicas shall leave, for people to see, and the engine image that one was made without.
func (w *World) mark(g groups, out *Verdict) {
	for _, list := range [][]*v1beta2.Replica{g.healthy, g.coming, g.failed} {
		for _, r := range list {
			spec := map[string]any{}
			if leaves := w.leaves(r); leaves != r.Spec.EvictionRequested {
				spec["evictionRequested"] = leaves
			}
			if image := w.Image(); r.Spec.Image == "" && image != "" {
				spec["image"] = image
			}
			if len(spec) > 0 {
				out.Patches = append(out.Patches, Patch{r, spec})
			}
		}
	}
}

// need is how many replicas are missing now.
type need struct {
	count int
	// local asks for one on the node where the volume is attached, beside those that are wanted.
	local bool
	// until is when a failed replica is no longer waited for.
	until time.Time
}

// missing counts what has to be placed or taken back now. Before the volume was ever attached all are; later one at a
// time, over a running engine.
func (w *World) missing(g groups) need {
	wanted := w.Volume.Spec.NumberOfReplicas
	if !w.everHealthy() {
		if w.Volume.Spec.DataLocality == "strict-local" && w.Volume.Spec.NodeID == "" {
			return need{}
		}
		usable := 0
		for _, r := range g.coming {
			if !w.leaves(r) {
				usable++
			}
		}
		return need{count: max(0, wanted-usable)}
	}
	if !w.attached() || w.busy() || len(g.coming) > 0 || len(g.healthy) == 0 {
		return need{}
	}
	lacks := wanted - len(g.staying)
	if lacks <= 0 {
		local := w.wantsLocal(g)
		return need{count: map[bool]int{true: 1}[local], local: local}
	}
	out := need{count: 1}
	returning := 0
	for _, r := range g.failed {
		if at := parse(r.Spec.FailedAt).Add(w.Settings.ReplenishmentWait); at.After(w.Now) && !w.leaves(r) && r.Spec.RebuildRetryCount < retries {
			returning++
			if out.until.IsZero() || at.Before(out.until) {
				out.until = at
			}
		}
	}
	if returning >= lacks && !w.anyBack(g) {
		out.count = 0
	}
	return out
}

// wantsLocal tells that a best-effort volume has no replica where it is attached.
func (w *World) wantsLocal(g groups) bool {
	if w.Volume.Spec.DataLocality != "best-effort" {
		return false
	}
	return !slices.ContainsFunc(g.healthy, func(r *v1beta2.Replica) bool { return r.Spec.NodeID == w.Volume.Spec.NodeID })
}

// place finds disks for what is missing and says on the volume whether all that is wanted has a place.
func (w *World) place(g groups, n need, out *Verdict) {
	if w.waitsForNode(g) {
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonWaitingForNode, "The replica of a strict-local volume goes to the node where the volume is attached first.")
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
	switch {
	case refusal.Reason != "" && !n.local:
		w.scheduled(out, v1beta2.ConditionFalse, refusal.Reason, refusal.Message)
	case n.count > 0 && len(out.WaitsFor) == 0, n.count == 0 && len(g.staying)+len(g.coming) >= w.Volume.Spec.NumberOfReplicas:
		w.scheduled(out, v1beta2.ConditionTrue, v1beta2.ReasonPlaced, "Every replica has a place.")
	}
}

// promise counts what this pass placed already.
func (w *World) promise(d placement.Disk) {
	for i := range w.Candidates {
		if w.Candidates[i].Name == d.Node {
			scheduled := map[string]int64{d.UUID: w.Volume.Spec.Size}
			for uuid, n := range w.Candidates[i].Scheduled {
				scheduled[uuid] += n
			}
			w.Candidates[i].Scheduled = scheduled
		}
	}
}

func (w *World) waitsForNode(g groups) bool {
	v := w.Volume
	return v.Spec.DataLocality == "strict-local" && v.Spec.NodeID == "" && len(g.healthy)+len(g.coming)+len(g.failed) == 0
}

// find looks for one disk. A rebuild takes a slot on its node: nodes without one are left out, and waited for where no
// other one will do.
func (w *World) find(taken []placement.Place, n need, out *Verdict) (*placement.Disk, placement.Refusal) {
	request := w.request(taken)
	if n.local {
		request.OnlyNode = w.Volume.Spec.NodeID
	}
	free, full := w.Candidates, []string(nil)
	if w.everHealthy() {
		free = nil
		for _, c := range w.Candidates {
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
	if late, _ := placement.Find(request, w.Candidates); late != nil {
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
		DataEngine: v.DataEngine, Size: v.Size, NodeSelector: v.NodeSelector, DiskSelector: v.DiskSelector, Taken: taken,
		NodeSoft:         soft(v.ReplicaSoftAntiAffinity, w.Settings.NodeSoftAntiAffinity),
		ZoneSoft:         soft(v.ReplicaZoneSoftAntiAffinity, w.Settings.ZoneSoftAntiAffinity),
		DiskSoft:         soft(v.ReplicaDiskSoftAntiAffinity, w.Settings.DiskSoftAntiAffinity),
		OverProvisioning: w.Settings.OverProvisioning, MinimalAvailable: w.Settings.MinimalAvailable,
		HonourCordon: w.Settings.DisableSchedulingOnCordoned,
	}
	switch v.DataLocality {
	case "strict-local":
		r.OnlyNode = v.NodeID
	case "best-effort":
		r.PreferNode = v.NodeID
	}
	return r
}

// taken are the places that count for anti-affinity: of replicas that stay, and of failed ones that may be taken back.
func (w *World) taken(g groups) []placement.Place {
	var out []placement.Place
	for _, list := range [][]*v1beta2.Replica{g.healthy, g.coming} {
		for _, r := range list {
			p := placement.Place{Node: r.Spec.NodeID, DiskUUID: r.Spec.DiskID}
			if n := w.Nodes[r.Spec.NodeID]; n != nil {
				p.Zone = n.Status.Zone
			}
			out = append(out, p)
		}
	}
	return out
}

func (w *World) scheduled(out *Verdict, status v1beta2.ConditionStatus, reason, message string) {
	c := v1beta2.Condition{Type: v1beta2.VolumeScheduled, Status: status, Reason: reason, Message: message}
	own := conditions.Owned(w.Volume.Status.Conditions, v1beta2.VolumeScheduled)
	list := conditions.Set(own, c, w.Now)
	if !conditions.Equal(own, list) {
		out.Scheduled = &list[0]
	}
}
