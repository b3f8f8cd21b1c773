package dataplane

// Create starts an instance. What fails inside it is no error: the instance is there in state error and reports why.
func (s *Server) Create(spec Spec) (Instance, error) {
	return s.create(spec, SourceWire, s.settle)
}

// create makes an instance and lets finish bring it on its way.
func (s *Server) create(spec Spec, source string, finish func(*Instance)) (Instance, error) {
	p := s.plane
	p.mu.Lock()
	defer p.mu.Unlock()
	if spec.DataEngine == "" {
		spec.DataEngine = V1
	}
	entry := Entry{Source: source, Node: s.node.name, Pod: s.pod, Method: "InstanceCreate", Name: spec.Name, Type: spec.Type,
		DataEngine: spec.DataEngine, DiskUUID: spec.DiskUUID, Effect: EffectNone}
	if existing := s.instances[spec.Name]; existing != nil {
		entry.UUIDFound, entry.StateBefore = existing.UUID, existing.State
	}
	instance, err := s.admit(spec, source)
	entry.Result = CodeOf(err)
	if err != nil {
		entry.Message = err.Error()
		p.record(entry)
		s.keepRefused(instance)
		return Instance{}, err
	}
	instance.created = p.clock.Now()
	s.instances[spec.Name] = instance
	p.bind(instance)
	answer := instance.copy()
	finish(instance)
	if source == SourceControl {
		answer = instance.copy()
	}
	entry.UUIDFound, entry.Effect, entry.Message = instance.UUID, EffectCreated, instance.ErrorMsg
	p.record(entry)
	s.changed()
	return answer, nil
}

// keepRefused lists an engine whose creation a v2 server refused after it had noted the name: it stays pending until it is deleted.
func (s *Server) keepRefused(i *Instance) {
	if i == nil {
		return
	}
	i.created = s.plane.clock.Now()
	s.instances[i.Name] = i
	s.changed()
}

// admit refuses a request or makes the instance, starting or in error.
func (s *Server) admit(spec Spec, source string) (*Instance, error) {
	switch {
	case !s.alive:
		return nil, refuse(Unavailable, "the instance manager is gone")
	case spec.Name == "":
		return nil, refuse(InvalidArgument, "an instance needs a name")
	case spec.DataEngine != s.engine:
		return nil, refuse(InvalidArgument, "data engine %s is not enabled here", spec.DataEngine)
	}
	if err := s.admitFrontend(spec); err != nil {
		return nil, err
	}
	existing := s.instances[spec.Name]
	revived := existing != nil && s.engine == V2 && existing.Type == TypeReplica && existing.State == Stopped && !existing.ending &&
		spec.Type == TypeReplica
	if existing != nil && !revived {
		return nil, refuse(AlreadyExists, "instance %s already exists", spec.Name)
	}
	if s.engine == V1 {
		return s.newProcess(spec, source)
	}
	return s.newSPDK(spec, source)
}

// settle changes a starting instance to running after the start time.
func (s *Server) settle(i *Instance) {
	if i.State != Starting && i.State != Pending {
		return
	}
	s.plane.after(s.plane.behaviour.StartTime, func() {
		if s.alive && s.instances[i.Name] == i && (i.State == Starting || i.State == Pending) {
			i.State = Running
			if held := s.node.frontends[i.Name]; held != nil && i.Type == TypeFrontend {
				held.State = Running
			}
			s.changed()
		}
	})
}

// fail puts an instance into state error.
func (i *Instance) fail(message string) *Instance {
	i.State, i.ErrorMsg = Failed, message
	return i
}
