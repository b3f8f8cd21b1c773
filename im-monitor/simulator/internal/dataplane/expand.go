package dataplane

import "time"

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

// Expand makes an engine and its replicas larger. v1 answers at once and goes on; with fails it answers OK and fails afterwards.
func (s *Server) Expand(ref Ref, size uint64, fails string) error {
	return s.onEngine(ref, true, "VolumeExpand", func(r *engineRun) (string, error) {
		switch {
		case r.expansion.Running:
			return "", refuse(Unknown, "the volume is expanding already")
		case size < r.size:
			return "", refuse(Unknown, "cannot expand from %d to the smaller size %d", r.size, size)
		case size == r.size:
			return "", nil
		case len(r.with(ModeWO)) > 0:
			return "", refuse(Unknown, "cannot expand while a replica is rebuilding")
		}
		r.expansion.Running = true
		j := s.plane.work(r.volume, fails, func() string { r.grow(size); return "" })
		r.expansion.job = j
		j.whenEnded(func() {
			r.expansion.Running = false
			if j.Error != "" {
				r.expansion.LastError, r.expansion.FailedAt = j.Error, s.plane.clock.Now()
			}
		})
		return "", nil
	})
}

// grow sets the size of an engine, of its replicas and of the frontend.
func (r *engineRun) grow(size uint64) {
	r.size, r.engine.Size = size, size
	for _, m := range r.with(ModeRW, ModeWO) {
		if l := m.replica.server.lvolOf(m.replica); l != nil {
			l.Size = size
		}
		m.replica.Size, m.data.size = size, size
	}
	r.engine.server.changed()
}
