package dataplane

import (
	"context"
	"slices"

	"drover.dev/drover/im-monitor/simulator/internal/chain"
)

// Addition is a replica that an engine must take in.
type Addition struct {
	Name string
	// Address is where it listens, ip:port.
	Address string
	// Size is the volume's backend size, as the caller has it; 0 is not reported.
	Size uint64
	// Restore adds a v1 replica that the next restore fills: it stays WO until ReplicaVerifyRebuild. No snapshot is taken for it.
	Restore bool
	// Fails makes the rebuild fail with this message after it began.
	Fails string
}

// ReplicaAdd takes a replica in and rebuilds it. v2 answers at once, v1 when the rebuild is done. Only the call itself makes a v1 replica
// RW: without its caller the replica stays WO. If the caller disconnects before the copy begins, nothing is copied, the data is not marked
// as unfinished, and the rebuild's status stays empty; if it disconnects during the copy, all is copied and the status is complete.
func (s *Server) ReplicaAdd(ctx context.Context, ref Ref, a Addition) error {
	m, err := s.beginRebuild(ref, a)
	if err != nil || s.engine == V2 || a.Restore {
		return err
	}
	rebuild := m.rebuild
	select {
	case <-rebuild.done:
	case <-ctx.Done():
		s.plane.mu.Lock()
		defer s.plane.mu.Unlock()
		m.stranded, rebuild.prepared = true, false
		m.run.note(EffectStranded, "the caller of ReplicaAdd disconnected: replica "+m.name+" stays "+m.mode)
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

func (s *Server) beginRebuild(ref Ref, a Addition) (*member, error) {
	var added *member
	err := s.onEngine(ref, true, "ReplicaAdd", func(r *engineRun) (string, error) {
		if err := r.mayAdd(a); err != nil {
			return a.Address, err
		}
		replica := s.plane.replicaAt(a.Address)
		if a.Name == "" {
			a.Name = replica.Name
		}
		source := r.with(ModeRW)[0]
		if !r.fillsByRestore(a) {
			if err := r.snapshotAll(chain.Layer{Name: s.plane.newUUID()}); err != nil {
				return a.Address, err
			}
		}
		if failed := r.members[a.Name]; failed != nil {
			r.leave(failed)
		}
		added = r.join(a.Name, a.Address, ModeWO)
		added.data.Clear()
		added.data.size = r.size
		added.data.partial = s.engine == V2
		r.engine.Replicas = withEntry(r.engine.Replicas, a.Name, a.Address)
		if !r.fillsByRestore(a) {
			added.source = source.address
			added.begin(a.Fails)
		}
		r.engine.server.changed()
		return a.Address, nil
	})
	return added, err
}

// fillsByRestore reports whether the next restore fills the added replica: v2 engines rebuild it all the same.
func (r *engineRun) fillsByRestore(a Addition) bool { return a.Restore && r.engine.server.engine == V1 }

// begin begins to copy what the source has, of v1 after a preparation. From then on the data is marked as unfinished.
func (m *member) begin(fails string) {
	p, rebuild := m.run.plane, prepare(fails, m.copied)
	m.rebuild = rebuild
	rebuild.whenEnded(func() {
		if rebuild.Error != "" && m.mode == ModeWO {
			m.mode = ModeERR
			m.run.engine.server.changed()
		}
	})
	if m.run.engine.server.engine == V2 {
		p.launch(rebuild, m.run.volume)
		return
	}
	p.after(p.preparation(m.run.volume), func() { m.copy(rebuild) })
}

// copy begins the copy of a rebuild that was prepared, unless it is held or its caller has gone.
func (m *member) copy(rebuild *job) {
	p := m.run.plane
	switch {
	case !rebuild.prepared:
	case p.copyTime(m.run.volume) == HeldBefore:
		p.after(heldPause, func() { m.copy(rebuild) })
	default:
		m.data.partial = true
		p.launch(rebuild, m.run.volume)
	}
}

// mayAdd refuses what cannot be rebuilt.
func (r *engineRun) mayAdd(a Addition) error {
	replica := r.plane.replicaAt(a.Address)
	switch {
	case len(r.with(ModeWO)) > 0:
		return refuse(Unknown, "can only have one WO replica at a time")
	case r.engine.server.engine == V1 && r.expansion.Running:
		return refuse(Unknown, "cannot add a replica while the volume is expanding")
	case r.engine.server.engine == V1 && r.jobs.purge != nil && r.jobs.purge.Running:
		return refuse(Unknown, "cannot add a replica while snapshots are purged")
	case replica == nil || !reaches(r.engine.server.node, replica.server.node) || replica.dataOf() == nil:
		return refuse(Unknown, "failed to connect to replica tcp://%s: connection refused", a.Address)
	case replica.isOpen() && replica.opener.run != r:
		return refuse(Unknown, "replica must be closed, cannot add in state: open")
	case a.Size != 0 && r.size != 0 && a.Size != r.size:
		return refuse(Unknown, "cannot add a replica of size %d to an engine of size %d", a.Size, r.size)
	case len(r.with(ModeRW)) == 0:
		return refuse(Unknown, "no RW replica to rebuild from")
	case r.atLimit() != "" && !r.fillsByRestore(a): // it takes a snapshot
		return refuse(Unknown, "failed to snapshot before replica tcp://%s is added: %s", a.Address, r.atLimit())
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
	if m.stranded {
		m.synced = true // on disk: the replica itself has not read it, and no one reports it to
		return ""
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

// interrupt ends a replica's rebuild that continues. Its data stays unfinished.
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

// Rebuilds are the rebuilds of the engine's replicas in mode WO. There is none of a v1 replica that a restore has begun to fill; one that
// was added for a restore has one that is all zero before that. A v1 engine that does not reach such a replica answers with an error.
func (s *Server) Rebuilds(ref Ref) ([]RebuildStatus, error) {
	var out []RebuildStatus
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		for _, m := range r.sorted() {
			switch {
			case m.mode != ModeWO:
			case r.isSilent(m):
				return "", refuse(Unknown, "failed to check the restore status before fetching the rebuild status: tcp://%s: "+
					"context deadline exceeded", m.address)
			case m.rebuild != nil && m.rebuild.State != "":
				out = append(out, RebuildStatus{Progress: m.rebuild.Progress, Address: m.address, From: m.source})
			case m.restore != nil || s.engine == V2 && r.jobs.restore != nil:
				return "", nil
			default:
				out = append(out, RebuildStatus{Address: m.address})
			}
		}
		return "", nil
	})
	return out, err
}

// VerifyRebuild asks whether a replica is rebuilt. v1 compares the lists of disks: equal ones make a WO replica RW, and nothing else: it
// has not read what was copied, and its data stays marked as unfinished. Different ones make it ERR.
func (s *Server) VerifyRebuild(ref Ref, name, where string) error {
	return s.onEngine(ref, false, "ReplicaVerifyRebuild", func(r *engineRun) (string, error) {
		m := r.find(name, where)
		switch {
		case m == nil:
			return where, refuse(Unknown, "cannot find replica %s", where)
		case m.mode == ModeRW:
			return where, nil
		case m.mode != ModeWO || s.engine != V1:
			return where, refuse(Unknown, "invalid mode %s for replica %s to be verified", m.mode, where)
		case !m.hasAllDisks():
			m.fail("its disks are not those of the other replicas")
			return where, refuse(Unknown, "the disks of replica %s are not those of the other replicas", where)
		}
		m.set(ModeRW)
		if r.mixed() {
			r.note(EffectMixedReplicas, "a replica was verified that had not read what was copied: "+r.sums())
		}
		return where, nil
	})
}

// hasAllDisks reports whether a WO replica has, on its disk, the snapshots of a replica that is read.
func (m *member) hasAllDisks() bool {
	sources := m.run.with(ModeRW)
	if m.data == nil || len(sources) == 0 || m.rebuild != nil && m.rebuild.Running {
		return false
	}
	names := func(d *data) []string {
		var out []string
		for _, one := range d.List() {
			out = append(out, one.Name)
		}
		return out
	}
	if m.rebuild == nil && m.restored == "" && !sources[0].data.Empty() {
		return false // it was added for a restore, which has not filled it
	}
	return m.synced || slices.Equal(names(m.data), names(sources[0].data))
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

// find is a member by its address, or by its name when no address is reported.
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
