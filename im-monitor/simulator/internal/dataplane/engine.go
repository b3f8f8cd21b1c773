package dataplane

import "time"

// Engine is a running engine as its own API shows it.
type Engine struct {
	Instance
	// Modes are the replicas' modes by name: RW while one listens at the address, else ERR.
	Modes   map[string]string
	Created time.Time
}

// EngineAt is the running engine that listens on ip:port in this cluster.
func (p *Plane) EngineAt(where string) (Engine, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.listening(where, TypeEngine)
	if i == nil {
		return Engine{}, refuse(Unavailable, "no engine listens on %s", where)
	}
	return p.engine(i), nil
}

// EngineNamed is the running engine of that name at this server.
func (s *Server) EngineNamed(name string) (Engine, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	i := s.instances[name]
	if i == nil || i.Type != TypeEngine || i.State != Running {
		return Engine{}, refuse(Unavailable, "engine %s does not run here", name)
	}
	return s.plane.engine(i), nil
}

func (p *Plane) engine(i *Instance) Engine {
	return Engine{Instance: i.copy(), Modes: p.modes(i), Created: i.created}
}

// modes are the replicas' modes as the engine sees them. An address that was never told counts as reachable; the lock is held.
func (p *Plane) modes(engine *Instance) map[string]string {
	out := make(map[string]string, len(engine.Replicas))
	for name, where := range engine.Replicas {
		out[name] = "RW"
		if where != "" && p.replicaAt(where) == nil {
			out[name] = "ERR"
		}
	}
	return out
}
