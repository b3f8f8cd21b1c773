package dataplane

// Purge takes removed snapshots out of every replica. v1 marks every snapshot as removed first that no user made, and reports its progress;
// v2 does it at once, takes out what no user made, and reports nothing when it cannot.
func (s *Server) Purge(ref Ref, skipIfRunning bool, fails string) error {
	return s.onEngine(ref, true, "SnapshotPurge", func(r *engineRun) (string, error) {
		running := r.jobs.purge != nil && r.jobs.purge.Running
		rebuilding := len(r.with(ModeWO)) > 0
		switch {
		case r.engine.server.engine == V2 && !rebuilding && fails == "":
			r.eachData(func(d *data) { d.PurgeSystem() })
			return "", nil
		case r.engine.server.engine == V2, running && skipIfRunning:
			return "", nil
		case running:
			return "", refuse(Unknown, "a purge is in progress already")
		case rebuilding:
			return "", refuse(Unknown, "cannot purge snapshots because a replica is rebuilding")
		}
		r.purge(fails)
		return "", nil
	})
}

// purge is that of a v1 engine.
func (r *engineRun) purge(fails string) {
	r.eachData(func(d *data) { d.MarkSystem() })
	r.jobs.purge = r.plane.work(r.volume, fails, func() string {
		r.eachData(func(d *data) { d.Purge() })
		return ""
	})
}

// eachData does something to every replica that is read, and reports the watchers of a v2 server.
func (r *engineRun) eachData(do func(*data)) {
	for _, m := range r.with(ModeRW) {
		do(m.data)
	}
	r.snapshotsChanged()
}

// PurgeStatus is how far the last purge is, by the addresses of the replicas. v2 never reports. A v1 engine lists an error alone for
// a replica that it does not reach.
func (s *Server) PurgeStatus(ref Ref) (map[string]Progress, error) {
	out := map[string]Progress{}
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		if r.jobs.purge == nil || r.engine.server.engine == V2 {
			return "", nil
		}
		for _, m := range r.with(ModeRW) {
			if out[m.address] = r.jobs.purge.Progress; r.isSilent(m) {
				out[m.address] = noAnswer("purge", m)
			}
		}
		return "", nil
	})
	return out, err
}
