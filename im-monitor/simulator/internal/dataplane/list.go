package dataplane

import "cmp"

// Reported is an instance as the server reports it: UUID as far as the server's mode lets it out.
type Reported = Instance

// List is the whole inventory, by name. A v2 server lists the replicas that it made itself at once, and those that it finds on loaded
// disks with the next pass over them.
func (s *Server) List() (map[string]Reported, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if !s.alive {
		return nil, refuse(Unavailable, "the instance manager is gone")
	}
	out := make(map[string]Reported, len(s.instances))
	for name, i := range s.instances {
		out[name] = s.reported(i)
	}
	return out, nil
}

// Get is one instance.
func (s *Server) Get(engine, name string) (Reported, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if !s.alive {
		return Reported{}, refuse(Unavailable, "the instance manager is gone")
	}
	i := s.instances[name]
	if i == nil || engine != s.engine {
		return Reported{}, refuse(NotFound, "cannot find instance %s", name)
	}
	return s.reported(i), nil
}

// Report is an instance that a call returned, as the server reports it.
func (s *Server) Report(i Instance) Reported { return s.reported(&i) }

// reported hides what the server does not report: v1 the volume and the type, which it guesses, v2 all but name, type and engine of the
// spec, and of today the UUID.
func (s *Server) reported(i *Instance) Reported {
	out := i.copy()
	if s.engine == V1 {
		out.Volume, out.Type = "", cmp.Or(i.listedAs, i.Type)
	} else {
		out.Spec = Spec{Name: i.Name, Type: i.Type, DataEngine: i.DataEngine, EngineName: i.EngineName, Frontend: i.Frontend}
	}
	if i.HideUUID || s.engine == V2 && s.plane.behaviour.Mode == Today || i.Type == TypeFrontend {
		out.UUID = ""
	}
	return out
}

// ReplicaEntry is a v2 replica as SPDK lists it. UUID is the top-level one, which servers of today leave empty.
type ReplicaEntry struct {
	Instance
	Lvol Lvol
	UUID string
}

// SPDKReplicas are the v2 replicas by name, stopped ones included.
func (s *Server) SPDKReplicas() (map[string]ReplicaEntry, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if !s.alive {
		return nil, refuse(Unavailable, "the instance manager is gone")
	}
	out := map[string]ReplicaEntry{}
	for name, i := range s.instances {
		if i.Type != TypeReplica {
			continue
		}
		entry := ReplicaEntry{Instance: i.copy(), UUID: s.reported(i).UUID}
		if l := s.lvolOf(i); l != nil {
			entry.Lvol = l.copy()
		}
		out[name] = entry
	}
	return out, nil
}

// EngineEntry is a v2 engine as SPDK lists it. UUID is the reported one.
type EngineEntry struct {
	Instance
	UUID  string
	Modes map[string]string
}

// SPDKEngines are the v2 engines by name.
func (s *Server) SPDKEngines() (map[string]EngineEntry, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if !s.alive {
		return nil, refuse(Unavailable, "the instance manager is gone")
	}
	out := map[string]EngineEntry{}
	for name, i := range s.instances {
		if i.Type == TypeEngine {
			out[name] = EngineEntry{Instance: i.copy(), UUID: s.reported(i).UUID, Modes: s.plane.modes(i)}
		}
	}
	return out, nil
}

// ReplicasOnDisks are all replicas that the server lists, whatever their disk.
func (s *Server) ReplicasOnDisks() ([]Lvol, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if !s.alive {
		return nil, refuse(Unavailable, "the instance manager is gone")
	}
	var out []Lvol
	for _, i := range s.instances {
		if l := s.lvolOf(i); i.Type == TypeReplica && l != nil {
			out = append(out, l.copy())
		}
	}
	return out, nil
}
