package dataplane

import "time"

// Deletion is what a caller asks for.
type Deletion struct {
	Name       string `json:"name"`
	Type       string `json:"type,omitempty"`
	DataEngine string `json:"dataEngine,omitempty"`
	// UUID is the identity that the caller means; empty means whatever carries the name.
	UUID     string `json:"uuid,omitempty"`
	DiskUUID string `json:"diskUUID,omitempty"`
	// Cleanup destroys a v2 replica's data, a v2 engine's RAID bdev; v1 ignores it.
	Cleanup bool `json:"cleanupRequired,omitempty"`
	// Stuck lets a v1 process survive: it stays stopping until it is deleted again, KillTime later.
	Stuck bool `json:"-"`
}

// Delete ends an instance. The answer's state is stopping; the entry is listed as stopped for a moment and then gone, but a v2 replica
// without clean-up, which stays as stopped, and a v2 engine without clean-up, to which nothing happens.
func (s *Server) Delete(d Deletion) (Instance, error) { return s.delete(d, SourceWire) }

func (s *Server) delete(d Deletion, source string) (Instance, error) {
	p := s.plane
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.DataEngine == "" {
		d.DataEngine = V1
	}
	entry := Entry{Source: source, Node: s.node.name, Pod: s.pod, Method: "InstanceDelete", Name: d.Name, Type: d.Type,
		DataEngine: d.DataEngine,
		UUIDAsked:  d.UUID, DiskUUID: d.DiskUUID, Cleanup: d.Cleanup, Effect: EffectNone}
	found := s.find(d)
	if found != nil {
		entry.UUIDFound, entry.StateBefore, entry.Type = found.UUID, found.State, found.Type
	}
	if err := s.mayDelete(d, found); err != nil {
		entry.Result, entry.Message = CodeOf(err), err.Error()
		p.record(entry)
		return Instance{}, err
	}
	answer := Instance{Spec: Spec{Name: d.Name, Type: d.Type, DataEngine: d.DataEngine}, State: Stopping}
	if found != nil {
		answer = found.copy()
		answer.State = Stopping
		entry.Effect, entry.DataDestroyed = s.execute(d, found)
	}
	entry.Result = "OK"
	p.record(entry)
	return answer, nil
}

// find is the instance that a request names. v1 knows names only.
func (s *Server) find(d Deletion) *Instance {
	i := s.instances[d.Name]
	if i != nil && s.engine == V2 && d.Type != "" && i.Type != d.Type {
		return nil
	}
	return i
}

// mayDelete refuses what the server does not do. A v2 server answers OK for a name that it does not know.
func (s *Server) mayDelete(d Deletion, found *Instance) error {
	b := s.plane.behaviour
	switch {
	case !s.alive:
		return refuse(Unavailable, "the instance manager is gone")
	case d.DataEngine != s.engine && s.engine == V1:
		return refuse(Unimplemented, "data engine %s is not enabled here", d.DataEngine)
	case d.DataEngine != s.engine:
		return refuse(NotFound, "cannot find instance %s", d.Name)
	case found == nil && s.engine == V1:
		return refuse(NotFound, "cannot find instance %s", d.Name)
	case found == nil || d.UUID == "" || d.UUID == found.UUID:
		return nil
	case s.engine == V1:
		return refuse(NotFound, "cannot find instance %s with UUID %s", d.Name, d.UUID)
	case b.Mode == Conforming:
		return refuse(b.MismatchCode, "instance %s has UUID %s, not %s: nothing was deleted", d.Name, found.UUID, d.UUID)
	}
	return nil
}

// execute does what is left of a deletion and reports what became of the instance.
func (s *Server) execute(d Deletion, i *Instance) (effect string, dataDestroyed bool) {
	if i.Type == TypeReplica && !i.ending {
		s.changes++
	}
	switch {
	case i.ending && !i.stuckSince.IsZero() && s.plane.clock.Now().Sub(i.stuckSince) >= s.plane.behaviour.KillTime:
		i.stuckSince = time.Time{}
		s.vanish(i)
		return EffectStopped, false
	case i.ending:
		return EffectNone, false
	case s.engine == V1 && d.Stuck:
		i.State, i.ending, i.stuckSince = Stopping, true, s.plane.clock.Now()
		s.plane.ceased(i)
		s.changed()
		return EffectNone, false
	case s.engine == V1:
		if i.run != nil {
			i.run.closeProcesses()
		}
		s.vanish(i)
		return EffectStopped, false
	case i.Type == TypeReplica && !d.Cleanup && i.State == Stopped:
		return EffectNone, false
	case i.Type == TypeReplica && !d.Cleanup:
		i.State, i.ErrorMsg = Stopped, ""
		s.plane.ceased(i)
		i.PortStart, i.PortEnd = 0, 0
		s.changed()
		return EffectStopped, false
	case i.Type == TypeReplica:
		had := s.destroy(i)
		s.vanish(i)
		return EffectDestroyed, had
	case i.Type == TypeEngine && !d.Cleanup:
		return EffectNone, false
	case i.Type == TypeFrontend:
		s.plane.closeDevice(i)
		delete(s.node.frontends, i.Name)
		s.dropRecord(i)
	}
	s.vanish(i)
	return EffectStopped, false
}

// destroy ends a v2 replica's data; it answers whether there was any.
func (s *Server) destroy(i *Instance) bool {
	l := s.lvolOf(i)
	return l != nil && s.destroyLvol(l)
}

// vanish lists an instance as stopping, then stopped, then not at all.
func (s *Server) vanish(i *Instance) {
	b := s.plane.behaviour
	still := func() bool { return s.alive && s.instances[i.Name] == i }
	gone := func() {
		if still() {
			delete(s.instances, i.Name)
			s.changes++
			s.changed()
		}
	}
	stopped := func() {
		if !still() {
			return
		}
		i.State, i.PortStart, i.PortEnd, i.TargetPortStart, i.TargetPortEnd = Stopped, 0, 0, 0, 0
		if b.Linger > 0 {
			s.changed()
		}
		s.plane.after(b.Linger, gone)
	}
	i.State, i.ending = Stopping, true
	s.plane.ceased(i)
	if b.StopTime > 0 {
		s.changed()
	}
	s.plane.after(b.StopTime, stopped)
}
