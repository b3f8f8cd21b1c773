package replica

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
)

// told is the largest size that an engine or a replica of the volume has.
func (w *World) told() int64 {
	size := int64(0)
	if w.Engine != nil {
		size = w.Engine.Spec.VolumeSize
	}
	for _, r := range w.Replicas {
		size = max(size, r.Spec.VolumeSize)
	}
	return size
}

// grows tells that the volume shall have more than was accepted.
func (w *World) grows() bool {
	return w.Volume.Spec.Size > w.Volume.Status.AcceptedSize && len(w.Replicas) > 0
}

// grow accepts a larger size once the disk of every replica has room for it, so that a size that was mistyped takes no room
// from other volumes and can be taken back. A size that replicas have already was accepted then.
func (w *World) grow(g groups, out *Verdict) {
	if len(out.Create) > 0 && w.told() <= 0 {
		out.AcceptedSize = w.Volume.Spec.Size // each place has room for it
		return
	}
	if !w.grows() {
		return
	}
	if wanted := w.Volume.Spec.Size; w.told() >= wanted || w.told() <= 0 {
		out.AcceptedSize = max(w.told(), wanted)
		return
	}
	if refusal := w.noRoom(g); refusal != "" {
		w.scheduled(out, v1beta2.ConditionFalse, v1beta2.ReasonInsufficientSpace, refusal)
		return
	}
	out.AcceptedSize = w.Volume.Spec.Size
}

// noRoom says which disk has no room for what the volume shall have more; empty: all have.
func (w *World) noRoom(g groups) string {
	for _, list := range [][]*v1beta2.Replica{g.healthy, g.coming} {
		for _, r := range list {
			for _, c := range w.Candidates {
				if c.Name != r.Spec.NodeID {
					continue
				}
				request := w.request(nil)
				request.Size = w.Volume.Spec.Size - r.Spec.VolumeSize
				if lacks := placement.Lacks(request, c, r.Spec.DiskID); lacks > 0 {
					return fmt.Sprintf("The volume cannot grow from %s to %s: the disk of replica %s on node %s lacks %s. Free room there, or set spec.size back to \"%d\".",
						bytes(w.told()), bytes(w.Volume.Spec.Size), r.Name, c.Name, bytes(lacks), max(w.told(), w.Volume.Status.AcceptedSize))
				}
			}
		}
	}
	return ""
}

// bytes are a number of them for people, such as 10Gi.
func bytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }
