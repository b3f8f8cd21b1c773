package dataplane

import "time"

// Work is what a v2 server does before it answers a creation or a deletion: it tries to reach what does not answer.
type Work struct {
	// Takes is how long it does that; 0: it has nothing to wait for.
	Takes time.Duration
	// End is called when it is done.
	End func()
}

// BeginCreation reports how long a v2 server works on a creation before anything of it is seen. Meanwhile the name is taken. It tries to
// reach each replica of an engine that does not answer, one after the other, and no list is answered until then; and the target of a
// frontend, which no list has until then.
func (s *Server) BeginCreation(spec Spec) (Work, error) {
	p := s.plane
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.engine != V2 || spec.DataEngine != V2 {
		return Work{End: func() {}}, nil
	}
	var takes time.Duration
	lists := false
	switch spec.Type {
	case TypeEngine:
		if s.unknownReplica(spec) != "" {
			break // it is refused at once
		}
		for _, where := range spec.Replicas {
			if r := p.replicaAt(where); where != "" && (r == nil || !reaches(s.node, r.server.node)) {
				takes += p.behaviour.DeadReplicaTime
			}
		}
		lists = true
	case TypeFrontend:
		if spec.Frontend != "" && !s.connects(spec.TargetAddress) {
			takes = p.behaviour.DeadTargetTime
		}
	}
	if s.making[spec.Name] {
		return Work{}, refuse(AlreadyExists, "instance %s already exists", spec.Name)
	}
	if takes == 0 || s.instances[spec.Name] != nil {
		return Work{End: func() {}}, nil
	}
	return s.work(spec.Name, takes, lists), nil
}

// BeginDeletion reports how long a v2 server works on a deletion: on a frontend whose engine has lost a replica, and no list is answered
// until then.
func (s *Server) BeginDeletion(d Deletion) Work {
	p := s.plane
	p.mu.Lock()
	defer p.mu.Unlock()
	i := s.instances[d.Name]
	if s.engine != V2 || i == nil || i.Type != TypeFrontend || p.behaviour.FrontendEndTime == 0 {
		return Work{End: func() {}}
	}
	e := p.listening(i.ActivePath, TypeEngine)
	if e == nil || e.run == nil || len(e.run.with(ModeERR)) == 0 {
		return Work{End: func() {}}
	}
	return s.work(d.Name, p.behaviour.FrontendEndTime, true)
}

// work holds a name, and the lists if they wait for it; the lock is held.
func (s *Server) work(name string, takes time.Duration, lists bool) Work {
	s.making[name] = true
	if lists {
		s.unlisted++
		if s.listing == nil {
			s.listing = make(chan struct{})
		}
	}
	return Work{Takes: takes, End: func() {
		s.plane.mu.Lock()
		defer s.plane.mu.Unlock()
		delete(s.making, name)
		if lists {
			if s.unlisted--; s.unlisted == 0 {
				close(s.listing)
				s.listing = nil
			}
		}
	}}
}

// Listing is closed when the server's lists are answered again; nil while they are.
func (s *Server) Listing() <-chan struct{} {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	return s.listing
}
