package dataplane

// Put makes an instance as if someone had started it before: running at once unless another state is asked for, without the checks of a
// start. A v2 replica's disk was loaded before, too; its device is made when the node has none.
func (s *Server) Put(spec Spec, state, uuid string) (Instance, error) {
	if s.engine == V2 && spec.Type == TypeReplica {
		if err := s.plane.seedDisk(s, &spec); err != nil {
			return Instance{}, err
		}
	}
	if state == "" {
		state = Running
	}
	return s.create(spec, SourceControl, func(i *Instance) {
		i.State = state
		if uuid != "" {
			s.identify(i, uuid)
		}
		if state != Running && state != Starting {
			s.plane.ceased(i)
		}
		if held := s.node.frontends[i.Name]; held != nil && i.Type == TypeFrontend {
			held.State = state
		}
		if state == Stopped {
			i.PortStart, i.PortEnd, i.TargetPortStart, i.TargetPortEnd = 0, 0, 0, 0
		}
	})
}

// seedDisk has a server know the disk of a replica as if it had been created there.
func (p *Plane) seedDisk(s *Server, spec *Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if spec.DiskName == "" {
		spec.DiskName = "disk-1"
	}
	d := s.disks[spec.DiskName]
	if d == nil {
		path := "/dev/" + spec.DiskName
		h := s.node.devices[path]
		if h == nil {
			h = s.node.addBlank(path)
		}
		if h.lvstore == nil {
			h.lvstore = &lvstore{name: spec.DiskName, uuid: p.newUUID(), lvols: map[string]*Lvol{}}
		}
		d = &disk{name: spec.DiskName, path: path, uuid: h.lvstore.uuid, driver: DriverAIO, bdev: spec.DiskName, state: DiskReady, on: h,
			done: make(chan struct{})}
		close(d.done)
		s.disks[spec.DiskName] = d
	}
	if d.state != DiskReady || d.on.absent {
		return refuse(FailedPrecondition, "disk %s of node %s is %s", spec.DiskName, s.node.name, d.state)
	}
	spec.DiskName = d.on.lvstore.name
	if spec.DiskUUID == "" {
		spec.DiskUUID = d.on.lvstore.uuid
	}
	return nil
}

// Remove ends an instance of a node from outside, at once and without a trace of stopped; a v2 replica stays as stopped, but with destroy,
// which takes its data, too.
func (p *Plane) Remove(nodeName, name string, destroy bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, i := p.findOn(nodeName, name)
	if i == nil {
		return refuse(NotFound, "instance %s was not found on node %s", name, nodeName)
	}
	entry := Entry{Source: SourceControl, Node: s.node.name, Pod: s.pod, Method: "Remove", Name: name, Type: i.Type,
		DataEngine: i.DataEngine,
		UUIDFound:  i.UUID, StateBefore: i.State, Cleanup: destroy, Result: "OK", Effect: EffectStopped}
	if i.Type == TypeReplica && s.engine == V2 && !destroy {
		i.State = Stopped
		p.ceased(i)
		i.PortStart, i.PortEnd = 0, 0
	} else {
		s.changes++
		if destroy && s.destroyData(i) {
			entry.Effect, entry.DataDestroyed = EffectDestroyed, true
		}
		p.closeDevice(i)
		delete(s.node.frontends, name)
		s.dropRecord(i)
		delete(s.instances, name)
		p.ceased(i)
	}
	p.record(entry)
	s.changed()
	return nil
}

// destroyData removes a replica's data, v1 or v2; false when it has none.
func (s *Server) destroyData(i *Instance) bool {
	if s.engine == V2 {
		return s.destroy(i)
	}
	d := s.node.directories[i.directory()]
	if i.Type != TypeReplica || d == nil {
		return false
	}
	d.lost()
	delete(s.node.directories, i.directory())
	return true
}

// Change is what the control endpoint changes of an instance; nil and empty mean unchanged.
type Change struct {
	State *string `json:"state,omitempty"`
	// UUID becomes the instance's, as after a restart under the same name; "new" draws one.
	UUID string `json:"uuid,omitempty"`
	// HideUUID makes the server leave the UUID empty.
	HideUUID *bool   `json:"hideUUID,omitempty"`
	ErrorMsg *string `json:"errorMsg,omitempty"`
	// Silent sends no notice.
	Silent bool `json:"silent,omitempty"`
}

// NewUUID in a Change draws a UUID.
const NewUUID = "new"

// Change changes an instance of a node, as the name is known there.
func (p *Plane) Change(nodeName, name string, c Change) (Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, i := p.findOn(nodeName, name)
	if i == nil {
		return Instance{}, refuse(NotFound, "instance %s was not found on node %s", name, nodeName)
	}
	if c.UUID != "" {
		s.reidentify(i, c.UUID)
	}
	if c.State != nil {
		i.State = *c.State
		if i.State != Running && i.State != Starting {
			p.ceased(i)
		}
	}
	if c.ErrorMsg != nil {
		i.ErrorMsg = *c.ErrorMsg
	}
	if c.HideUUID != nil {
		i.HideUUID = *c.HideUUID
	}
	if !c.Silent {
		s.changed()
	}
	return i.copy(), nil
}

// reidentify gives an instance another UUID: the old process, RAID bdev or head lvol is gone, another one carries the name.
func (s *Server) reidentify(i *Instance, uuid string) {
	if uuid == NewUUID {
		uuid = s.plane.newUUID()
	}
	if uuid == i.UUID {
		return
	}
	s.plane.record(Entry{Source: SourceControl, Node: s.node.name, Pod: s.pod, Method: "Reidentify", Name: i.Name, Type: i.Type,
		DataEngine: i.DataEngine, UUIDFound: i.UUID, StateBefore: i.State, Result: "OK", Effect: EffectReplaced,
		Message: "the new UUID is " + uuid})
	s.identify(i, uuid)
}

// identify sets an instance's UUID, a v2 replica's on its head lvol, too; the lock is held.
func (s *Server) identify(i *Instance, uuid string) {
	i.UUID = uuid
	if l := s.lvolOf(i); l != nil {
		l.UUID = uuid
	}
}

// findOn finds an instance of a node by its name; the lock is held.
func (p *Plane) findOn(nodeName, name string) (*Server, *Instance) {
	n := p.nodes[nodeName]
	if n == nil {
		return nil, nil
	}
	for _, s := range n.servers {
		if i := s.instances[name]; i != nil {
			return s, i
		}
	}
	return nil, nil
}

// ServerOf is the running server of a pod.
func (p *Plane) ServerOf(pod string) (*Server, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.servers[pod]
	return s, ok
}

// ServerOn is the running server of a node and data engine; the newest when there are several.
func (p *Plane) ServerOn(nodeName, engine string) (*Server, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var best *Server
	n := p.nodes[nodeName]
	if n == nil {
		return nil, false
	}
	for _, s := range n.servers {
		if s.engine == engine && (best == nil || s.started.After(best.started)) {
			best = s
		}
	}
	return best, best != nil
}

// Count is how many instances there are.
func (s *Server) Count() int {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	return len(s.instances)
}

// True is the whole inventory with the true UUIDs, whatever the server reports.
func (s *Server) True() map[string]Instance {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	out := make(map[string]Instance, len(s.instances))
	for name, i := range s.instances {
		out[name] = i.copy()
	}
	return out
}
