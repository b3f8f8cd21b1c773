package dataplane

import (
	"fmt"
	"strings"
	"time"
)

// Expansion is whether an engine grows, and how that failed last.
type Expansion struct {
	Running   bool
	LastError string
	FailedAt  time.Time
}

type expansion struct {
	Expansion
	job *job
}

// replicaFails begins the message of a failure that is one replica's own.
const replicaFails = "replica "

// Expand makes an engine and its replicas larger. It answers at once and continues, and what fails then is silent: a v1 engine at one of
// its snapshot limits does nothing; with fails the replicas grow and the frontend does not, so that the size stays. Only where fails begins
// with "replica " is there an error to be read: one replica is lost, and the volume has grown. An error is left by a start that was
// refused, too.
func (s *Server) Expand(ref Ref, size uint64, fails string) error {
	return s.onEngine(ref, true, "VolumeExpand", func(r *engineRun) (string, error) {
		if size == r.size {
			return "", nil
		}
		if problem := r.mayExpand(size); problem != "" {
			r.expansionFailed(problem)
			return "", refuse(Unknown, "%s", problem)
		}
		r.expansion.Running = true
		j := s.plane.work(r.volume, "", func() string { return r.expand(size, fails) })
		r.expansion.job = j
		j.whenEnded(func() { r.expansion.Running = false })
		return "", nil
	})
}

func (r *engineRun) mayExpand(size uint64) string {
	switch {
	case r.expansion.Running:
		return "the volume is expanding already"
	case size < r.size:
		return fmt.Sprintf("cannot expand from %d to the smaller size %d", r.size, size)
	case len(r.with(ModeWO)) > 0:
		return "cannot expand while a replica is rebuilding"
	}
	return ""
}

// expand is the work that continues after the answer.
func (r *engineRun) expand(size uint64, fails string) string {
	members := r.with(ModeRW)
	switch {
	case r.engine.server.engine == V1 && r.atLimit() != "":
		return ""
	case strings.HasPrefix(fails, replicaFails) && len(members) > 1:
		members[0].fail(fails)
		r.expansionFailed(fails)
	case strings.HasPrefix(fails, replicaFails):
		r.expansionFailed(fails)
		return ""
	case fails != "":
		r.growReplicas(size)
		return ""
	}
	r.size, r.engine.Size = size, size
	r.growReplicas(size)
	return ""
}

func (r *engineRun) expansionFailed(why string) {
	r.expansion.LastError, r.expansion.FailedAt = why, r.plane.clock.Now()
}

// growReplicas sets the size of the engine's replicas.
func (r *engineRun) growReplicas(size uint64) {
	for _, m := range r.with(ModeRW, ModeWO) {
		if l := m.replica.server.lvolOf(m.replica); l != nil {
			l.Size = size
		}
		m.replica.Size, m.data.size = size, size
	}
	r.engine.server.changed()
}
