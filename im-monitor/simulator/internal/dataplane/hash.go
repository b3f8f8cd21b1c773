package dataplane

import "drover.dev/drover/im-monitor/simulator/internal/chain"

// hashing is the checksum of one snapshot, or the work at it.
type hashing struct {
	*job
	checksum string
}

// Hash begins to compute a snapshot's checksum, unless there is one and no other is asked for.
func (s *Server) Hash(ref Ref, name string, again bool, fails string) error {
	return s.onEngine(ref, false, "SnapshotHash", func(r *engineRun) (string, error) {
		members := r.with(ModeRW)
		if len(members) == 0 || !members[0].data.Has(name) {
			return name, refuse(Unknown, "cannot find snapshot %s", name)
		}
		if known := r.jobs.hashes[name]; known != nil && (known.Running || !again && known.Error == "") {
			return name, nil
		}
		if r.jobs.hashes == nil {
			r.jobs.hashes = map[string]*hashing{}
		}
		h := &hashing{}
		h.job = s.plane.work(r.volume, fails, func() string {
			blocks, err := members[0].data.Contents(name)
			if err != nil {
				return err.Error()
			}
			h.checksum = chain.Text(blocks.Sum())
			return ""
		})
		r.jobs.hashes[name] = h
		return name, nil
	})
}

// HashStatus is the checksum of a snapshot, or how far it is.
type HashStatus struct {
	Progress
	Checksum string
}

// HashStatus reports of a snapshot's checksum, by the addresses of the engine's replicas.
func (s *Server) HashStatus(ref Ref, name string) (map[string]HashStatus, error) {
	out := map[string]HashStatus{}
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		if h := r.jobs.hashes[name]; h != nil {
			for _, m := range r.with(ModeRW) {
				out[m.address] = HashStatus{Progress: h.Progress, Checksum: h.checksum}
			}
		}
		return "", nil
	})
	return out, err
}
