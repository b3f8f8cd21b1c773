package replica

import (
	"slices"
	"strconv"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Needs reports whether Decide may place replicas, or checks whether it could, and needs the candidates.
func Needs(w World) bool {
	if !ready(&w) || w.heldBack() {
		return false
	}
	g := w.groups()
	w.failures = w.countFailures(g)
	return w.missing(g).count > 0 || w.outdated(g) || w.grows() && w.reported() < w.Volume.Spec.Size
}

// Decide is total and deterministic; deciding again on a world in which its writes were done changes nothing until another writer changes
// the world.
func Decide(w World) Verdict {
	var out Verdict
	w.Candidates = slices.Clone(w.Candidates) // places that are promised below count there
	w.remove(&out)
	if w.Volume != nil {
		out.Failures = w.Volume.Status.RebuildFailures
	}
	if !ready(&w) {
		return out
	}
	out.Image, out.Rebuild = w.Image(), w.everHealthy()
	if w.Engine != nil {
		out.Engine = w.Engine.Name
	}
	g := w.groups()
	w.failures = w.countFailures(g)
	out.Failures = w.failures
	w.mark(g, &out)
	if w.heldBack() {
		return out
	}
	need := w.missing(g)
	if !need.until.IsZero() {
		out.requeueAt(need.until)
	}
	need.count -= w.takeBack(g, need, &out)
	w.place(g, need, &out)
	w.checkPlace(g, &out)
	w.grow(g, &out)
	if !w.dropUnplaced(g, &out) {
		w.tidy(g, &out)
	}
	return out
}

// sources are the replicas that another one is rebuilt from: the healthy ones, or, if all were deleted at once, those that serve until
// there is another.
func (w *World) sources(g groups) []*v1beta2.Replica {
	if len(g.healthy) > 0 {
		return g.healthy
	}
	return slices.DeleteFunc(slices.Clone(g.going), func(r *v1beta2.Replica) bool { return !w.serves(r) })
}

// serves reports whether the running engine reads and writes the replica.
func (w *World) serves(r *v1beta2.Replica) bool {
	return !w.volumeGoes(r) && !w.down(r) && r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" && w.mode(r) == v1beta2.ReplicaModeRW
}

// ready reports whether the volume has its defaults and its finalizer, and is not being deleted.
func ready(w *World) bool {
	v := w.Volume
	return v != nil && v.DeletionTimestamp == nil && v.Spec.DataEngine != "" && v.Spec.NumberOfReplicas > 0 &&
		slices.Contains(v.Finalizers, v1beta2.Finalizer) && v.Status.State != "" && v.Status.State != v1beta2.VolumeStateCreating
}

// mark records which replicas must leave, the engine image or the size that a replica was created without, and the image of a volume that
// got another one while it was detached.
func (w *World) mark(g groups, out *Verdict) {
	for _, list := range [][]*v1beta2.Replica{g.healthy, g.coming, g.failed} {
		for _, r := range list {
			spec := map[string]any{}
			if leaves := w.leaves(r); leaves != r.Spec.EvictionRequested {
				spec["evictionRequested"] = leaves
			}
			if image := w.Image(); image != "" && image != r.Spec.Image && (r.Spec.Image == "" || w.rests(r)) {
				spec["image"] = image
			}
			if size := w.Volume.Status.AcceptedSize; r.Spec.VolumeSize <= 0 && size > 0 {
				spec["volumeSize"] = strconv.FormatInt(size, 10)
			}
			if len(spec) > 0 {
				out.patch(r, spec)
			}
		}
	}
}

// rests reports whether a v1 replica of a detached volume runs nowhere: it starts with the engine image of its engine.
func (w *World) rests(r *v1beta2.Replica) bool {
	return w.Volume.Spec.DataEngine == v1beta2.DataEngineV1 && w.Volume.Status.State == v1beta2.VolumeStateDetached &&
		r.Spec.DesireState == v1beta2.InstanceStateStopped && r.Status.CurrentState == v1beta2.InstanceStateStopped
}

// need is how many replicas are missing now.
type need struct {
	count int
	// local requests one on the node where the volume is attached, beside those that are wanted.
	local bool
	// paused reports that the pause after failed rebuilds lasts: only a replica that has served may be taken back.
	paused bool
	// until is when the wait for a failed replica ends.
	until time.Time
}

// missing counts the replicas that must be placed or taken back now. After failed rebuilds their pause has to end first, except for a
// failed replica that served after its last rebuild: rebuilds do not fail on its node, or it has worked again since.
func (w *World) missing(g groups) need {
	n := w.wanting(g)
	until := w.nextRebuild()
	if n.count == 0 || until.IsZero() {
		return n
	}
	if n.paused, n.until = true, until; w.toTakeBack(g, n) == nil {
		return need{until: until}
	}
	return n
}

// wanting counts the replicas that the volume lacks: all of them before the first attachment, later one at a time, over a running engine.
func (w *World) wanting(g groups) need {
	wanted := w.Volume.Spec.NumberOfReplicas
	if !w.everHealthy() {
		if w.strictLocal() && w.Volume.Spec.NodeID == "" && !w.fills() {
			return need{}
		}
		usable := 0
		for _, r := range slices.Concat(g.coming, g.failed) { // the volume attaches without those that cannot start
			if !w.leaves(r) && r.Spec.NodeID != "" {
				usable++
			}
		}
		return need{count: max(0, wanted-usable)}
	}
	if !w.attached() || w.busy() || len(g.coming) > 0 || len(w.sources(g)) == 0 {
		return need{}
	}
	lacks := wanted - len(g.staying)
	if lacks <= 0 {
		return w.missesLocal(g)
	}
	returning, until := w.returning(g)
	if returning >= lacks && !slices.ContainsFunc(g.failed, w.isBack) {
		return need{until: until}
	}
	return need{count: 1, until: until}
}
