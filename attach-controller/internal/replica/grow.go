package replica

import (
	"fmt"
	"slices"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/text"
)

// reported is the largest size that the engine or a replica of the volume has; a size that was only requested does not count.
func (w *World) reported() int64 {
	size := int64(0)
	if w.Engine != nil {
		size = w.Engine.Status.CurrentSize
	}
	for _, r := range w.Replicas {
		size = max(size, r.Spec.VolumeSize)
	}
	return size
}

// grows reports whether the volume is to have more than was accepted.
func (w *World) grows() bool {
	return w.Volume.Spec.Size > w.Volume.Status.AcceptedSize && len(w.Replicas) > 0
}

// grow accepts a larger size once the disk of every replica has room for it, so that a mistyped size takes no room from other volumes and
// can be taken back. A size that replicas have already was accepted then.
func (w *World) grow(g groups, out *Verdict) {
	if len(out.Create) > 0 && w.reported() <= 0 {
		out.AcceptedSize = w.Volume.Spec.Size // each place has room for it
		return
	}
	if !w.grows() {
		return
	}
	reported, refusal := w.reported(), ""
	if reported < w.Volume.Spec.Size {
		refusal = w.noRoom(g)
	}
	switch {
	case refusal == "":
		out.AcceptedSize = max(reported, w.Volume.Spec.Size)
		return
	case w.Volume.Status.AcceptedSize == 0:
		out.AcceptedSize = reported
	}
	w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonInsufficientSpace, refusal)
}

// noRoom returns the disk that has no room for the volume's growth; empty: all have.
func (w *World) noRoom(g groups) string {
	for _, r := range slices.Concat(g.healthy, g.coming) {
		if w.leaves(r) {
			continue // its disk may be evicted since it is full
		}
		at := slices.IndexFunc(w.Candidates, func(c placement.Node) bool { return c.Name == r.Spec.NodeID })
		if at < 0 {
			continue
		}
		request := w.request(nil)
		promised := max(r.Spec.VolumeSize, w.Volume.Status.AcceptedSize) // its disk counts that already
		request.Size, request.Data = w.Volume.Spec.Size-promised, 0
		grow := fmt.Sprintf("The volume cannot grow from %s to %s", text.Bytes(w.reported()), text.Bytes(w.Volume.Spec.Size))
		where := fmt.Sprintf("the disk of replica %s on node %s", r.Name, r.Spec.NodeID)
		switch lacks, known := placement.Lacks(request, w.Candidates[at], r.Spec.DiskID); {
		case !known:
			return fmt.Sprintf("%s while %s is not ready: its free space is unknown.", grow, where)
		case lacks > 0:
			return fmt.Sprintf("%s: %s lacks %s. Free room there, or set spec.size back to \"%d\".",
				grow, where, text.Bytes(lacks), max(w.reported(), w.Volume.Status.AcceptedSize))
		}
	}
	return ""
}
