package dataplane

import (
	"context"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Addition is a replica that an engine shall take in.
type Addition struct {
	Name string
	// Address is where it listens, ip:port.
	Address string
	// Size is the volume's backend size, as the caller has it; 0 is not told.
	Size uint64
	// Fails makes the rebuild fail with this message after it began.
	Fails string
}

// ReplicaAdd takes a replica in and rebuilds it. v1 answers when that is done, v2 at once. A caller that goes away does not end the rebuild.
func (s *Server) ReplicaAdd(ctx context.Context, ref Ref, a Addition) error {
	rebuild, err := s.beginRebuild(ref, a)
	if err != nil || s.engine == V2 {
		return err
	}
	select {
	case <-rebuild.done:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return refuse(Unavailable, "the instance manager is gone")
	}
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if rebuild.Error != "" {
		return refuse(Unknown, "failed to rebuild replica tcp://%s: %s", a.Address, rebuild.Error)
	}
	return nil
}

func (s *Server) beginRebuild(ref Ref, a Addition) (*job, error) {
	var rebuild *job
	err := s.onEngine(ref, true, "ReplicaAdd", func(r *engineRun) (string, error) {
		if err := r.mayAdd(a); err != nil {
			return a.Address, err
		}
		replica := s.plane.replicaAt(a.Address)
		if a.Name == "" {
			a.Name = replica.Name
		}
		source := r.with(ModeRW)[0]
		if err := r.snapshotAll(chain.Layer{Name: s.plane.newUUID()}); err != nil {
			return a.Address, err
		}
		if failed := r.members[a.Name]; failed != nil {
			r.leave(failed)
		}
		m := r.join(a.Name, a.Address, ModeWO)
		m.source = source.address
		m.data.Clear()
		m.data.size = r.size
		m.data.partial = true
		r.engine.Replicas = withEntry(r.engine.Replicas, a.Name, a.Address)
		m.rebuild = s.plane.work(r.volume, a.Fails, func() string { return m.copied() })
		m.rebuild.whenEnded(func() {
			if m.rebuild.Error != "" && m.mode == ModeWO {
				m.mode = ModeERR
				s.changed()
			}
		})
		rebuild = m.rebuild
		r.engine.server.changed()
		return a.Address, nil
	})
	return rebuild, err
}

// mayAdd refuses what cannot be rebuilt.
func (r *engineRun) mayAdd(a Addition) error {
	replica := r.plane.replicaAt(a.Address)
	switch {
	case len(r.with(ModeWO)) > 0:
		return refuse(Unknown, "can only have one WO replica at a time")
	case replica == nil || !reaches(r.engine.server.node, replica.server.node) || replica.dataOf() == nil:
		return refuse(Unknown, "failed to connect to replica tcp://%s: connection refused", a.Address)
	case a.Size != 0 && r.size != 0 && a.Size != r.size:
		return refuse(Unknown, "cannot add a replica of size %d to an engine of size %d", a.Size, r.size)
	case len(r.with(ModeRW)) == 0:
		return refuse(Unknown, "no RW replica to rebuild from")
	}
	for _, m := range r.sorted() {
		if m.mode == ModeERR && m.address != a.Address {
			continue
		}
		if m.address == a.Address || m.name == a.Name || m.name == replica.Name {
			return refuse(Unknown, "replica %s is already in the engine, in mode %s", m.name, m.mode)
		}
	}
	return nil
}

// copied ends a rebuild: the replica has what its source has, and is read from now on. Its head is a new one.
func (m *member) copied() string {
	sources := m.run.with(ModeRW)
	if !m.reachable() || len(sources) == 0 {
		m.mode = ModeERR
		return "the replica or its source does not answer"
	}
	source := sources[0]
	for _, candidate := range sources {
		if candidate.address == m.source {
			source = candidate
		}
	}
	if err := m.data.Adopt(&source.data.Chain); err != nil {
		m.mode = ModeERR
		return err.Error()
	}
	m.data.partial, m.mode = false, ModeRW
	m.replica.server.newHead(m.replica)
	m.run.engine.server.changed()
	if m.data.Sum() != source.data.Sum() {
		m.run.note(EffectMixedReplicas, "a rebuilt replica differs from its source: "+m.run.sums())
	}
	return ""
}

// newHead gives a v2 replica another head lvol, as a rebuild and a revert do.
func (s *Server) newHead(i *Instance) {
	if s.engine == V2 {
		s.identify(i, s.plane.newUUID())
		s.changed()
	}
}

// interrupt ends a replica's rebuild that goes on. Its data stays unfinished.
func (m *member) interrupt(why string) {
	if m.rebuild != nil {
		m.rebuild.end(why)
	}
}

// RebuildStatus is how far the rebuild of one replica is.
type RebuildStatus struct {
	Progress
	// Address is the replica's, From its source's, both ip:port.
	Address, From string
}

// Rebuilds are the rebuilds that the engine's replicas have seen.
func (s *Server) Rebuilds(ref Ref) ([]RebuildStatus, error) {
	var out []RebuildStatus
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		for _, m := range r.sorted() {
			if m.rebuild != nil {
				out = append(out, RebuildStatus{Progress: m.rebuild.Progress, Address: m.address, From: m.source})
			}
		}
		return "", nil
	})
	return out, err
}

// VerifyRebuild asks whether a replica is rebuilt.
func (s *Server) VerifyRebuild(ref Ref, name, where string) error {
	return s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		m := r.find(name, where)
		if m == nil {
			return "", refuse(Unknown, "cannot find replica %s", where)
		}
		if m.mode != ModeRW {
			return "", refuse(Unknown, "invalid mode %s for replica %s to be verified", m.mode, where)
		}
		return "", nil
	})
}

// ReplicaRemove lets a replica go. v1 is content when it does not know it; the last one of an engine with a frontend stays.
func (s *Server) ReplicaRemove(ref Ref, name, where string) error {
	return s.onEngine(ref, false, "ReplicaRemove", func(r *engineRun) (string, error) {
		m := r.find(name, where)
		switch {
		case m == nil && s.engine == V1:
			return where, nil
		case m == nil:
			return where, refuse(NotFound, "cannot find replica %s with address %s", name, where)
		case len(r.members) == 1 && s.engine == V1 && r.frontend != "":
			return where, refuse(Unknown, "cannot remove last replica if volume is up")
		case len(r.members) == 1 && s.engine == V2:
			return where, refuse(Unknown, "cannot remove the last replica %s", m.name)
		}
		r.leave(m)
		r.engine.Replicas = withoutEntry(r.engine.Replicas, m.name)
		r.afterLoss()
		return where, nil
	})
}

// SetMode sets a replica's mode, as an engine's operator may.
func (s *Server) SetMode(ref Ref, where, mode string) error {
	return s.onEngine(ref, false, "ReplicaModeUpdate", func(r *engineRun) (string, error) {
		m := r.find("", where)
		if m == nil {
			return where, refuse(Unknown, "cannot find replica %s", where)
		}
		m.set(mode)
		return where, nil
	})
}

func (m *member) set(mode string) {
	if mode == ModeERR && m.mode != ModeERR {
		m.fail("the replica was set to mode ERR")
		return
	}
	m.mode = mode
	m.run.engine.server.changed()
}

// find is a member by its address, or by its name when no address is told.
func (r *engineRun) find(name, where string) *member {
	for _, m := range r.sorted() {
		if where != "" && m.address == where || where == "" && m.name == name {
			return m
		}
	}
	return nil
}

// withEntry and withoutEntry never change the map that others may hold.
func withEntry(in map[string]string, key, value string) map[string]string {
	out := withoutEntry(in, key)
	out[key] = value
	return out
}

func withoutEntry(in map[string]string, key string) map[string]string {
	out := make(map[string]string, len(in)+1)
	for k, v := range in {
		if k != key {
			out[k] = v
		}
	}
	return out
}
