package dataplane

import "drover.dev/drover/im-monitor/simulator/internal/chain"

// Source is the snapshot that a clone copies.
type Source struct {
	// Address, Engine and Volume report which engine has it: v1 by its address, v2 by its name and volume.
	Address, Engine, Volume string
	Snapshot                string
}

// cloning is a clone into the engine's volume, or the work at it.
type cloning struct {
	*job
	source Source
	from   string // address of the source's replica
}

// Clone copies a snapshot of another volume's engine into every replica of the engine that is asked. Whatever the volume held is gone.
func (s *Server) Clone(ref Ref, source Source, fails string) error {
	return s.onEngine(ref, false, "SnapshotClone", func(r *engineRun) (string, error) {
		if r.jobs.clone != nil && r.jobs.clone.Running {
			return source.Snapshot, refuse(Unknown, "a clone is in progress already")
		}
		from, err := s.sourceOf(ref.DataEngine, source)
		if err != nil {
			return source.Snapshot, err
		}
		blocks, err := from.data.Own(source.Snapshot)
		if err != nil {
			return source.Snapshot, refuse(Unknown, "failed to clone: %v", err)
		}
		c := &cloning{source: source, from: from.address}
		c.job = s.plane.work(r.volume, fails, func() string { return r.fill(blocks, source.Snapshot) })
		r.jobs.clone = c
		return source.Snapshot, nil
	})
}

// sourceOf is a replica of the engine that a clone copies from.
func (s *Server) sourceOf(engine string, source Source) (*member, error) {
	var i *Instance
	if engine == V2 {
		if v := s.plane.volumes[source.Volume]; v != nil {
			for r := range v.engines {
				if r.engine.Name == source.Engine && r.engine.State == Running && reaches(s.node, r.engine.server.node) {
					i = r.engine
				}
			}
		}
	} else if found, err := s.engineAt(bare(source.Address)); err == nil {
		i = found
	}
	if i == nil {
		return nil, refuse(Unavailable, "engine %s at %s does not run", source.Engine, source.Address)
	}
	if wrong(source.Engine, i.Name) || wrong(source.Volume, volumeOf(i.Spec)) {
		return nil, refuse(FailedPrecondition, "incorrect instance name")
	}
	members := i.run.with(ModeRW)
	if len(members) == 0 {
		return nil, refuse(Unknown, "engine %s has no usable replica", source.Engine)
	}
	return members[0], nil
}

// fill makes blocks the content of every replica that is written to, under a snapshot when one is named.
func (r *engineRun) fill(blocks chain.Blocks, snapshot string) string {
	members := r.with(ModeRW, ModeWO)
	if len(members) == 0 {
		return "the engine has no usable replica"
	}
	number := r.volume.replace(members[0].data.Over(blocks))
	for _, m := range members {
		m.data.Replace(blocks, number)
	}
	if snapshot != "" {
		if err := r.snapshotAll(chain.Layer{Name: snapshot}); err != nil {
			return err.Error()
		}
	}
	r.engine.server.changed()
	return ""
}

// CloneStatus is how far the last clone is, by the addresses of the engine's replicas.
type CloneStatus struct {
	Progress
	From, Snapshot string
}

// isSilent reports whether an engine lists an error alone for a replica: a v1 engine asks its replicas one by one.
func (r *engineRun) isSilent(m *member) bool { return r.engine.server.engine == V1 && !m.reachable() }

// noAnswer is the entry of a replica that does not answer its engine.
func noAnswer(work string, m *member) Progress {
	return Progress{Error: "Failed to get " + work + " status on tcp://" + m.address + ": connection refused"}
}

// CloneStatus reports of the last clone into the engine's volume. A v1 engine lists an error alone for a replica that it does not reach.
func (s *Server) CloneStatus(ref Ref) (map[string]CloneStatus, error) {
	out := map[string]CloneStatus{}
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		if c := r.jobs.clone; c != nil {
			for _, m := range r.with(ModeRW, ModeWO) {
				if out[m.address] = (CloneStatus{Progress: c.Progress, From: c.from, Snapshot: c.source.Snapshot}); r.isSilent(m) {
					out[m.address] = CloneStatus{Progress: noAnswer("clone", m)}
				}
			}
		}
		return "", nil
	})
	return out, err
}
