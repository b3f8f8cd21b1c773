package dataplane

import (
	"fmt"
	"slices"
	"time"
)

// link is one NVMe connection of a frontend in its node's kernel. lost is since when its target does not answer; zero while it does.
type link struct {
	engine, address string
	lost            time.Time
}

// anaState is the state of an engine's listener. Its SPDK holds it: it outlives the frontend's server and ends with the engine's.
func (i *Instance) anaState() string {
	if i.ana == "" {
		return ANAOptimized
	}
	return i.ana
}

// SetTargetANA sets the state of the listener of an engine that runs at this server.
func (s *Server) SetTargetANA(engine, state string) error {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	err := s.setTargetANA(engine, state)
	e := Entry{Source: SourceWire, Node: s.node.name, Pod: s.pod, Method: "EngineSetTargetListenerANAState", Name: engine, Type: TypeEngine,
		DataEngine: V2,
		Result:     CodeOf(err), Effect: EffectChanged, Message: state}
	if err != nil {
		e.Effect, e.Message = EffectNone, state+" "+err.Error()
	}
	s.plane.record(e)
	return err
}

func (s *Server) setTargetANA(engine, state string) error {
	if !s.alive {
		return refuse(Unavailable, "the instance manager is gone")
	}
	if !slices.Contains([]string{ANAOptimized, ANANonOptimized, ANAInaccessible}, state) || engine == "" {
		return refuse(InvalidArgument, "an engine and a state are needed, not %q and %q", engine, state)
	}
	i := s.instances[engine]
	switch {
	case i == nil || i.Type != TypeEngine:
		return refuse(NotFound, "engine %s was not found", engine)
	case i.run == nil || !i.run.open || i.PortStart == 0:
		return refuse(Internal, "unable to find subsystem of engine %s", engine)
	}
	i.ana = state
	s.plane.checkPaths(s.plane.volume(volumeOf(i.Spec)))
	return nil
}

// setANA sets the state of an engine's listener from another node, by the SPDK service of the engine's node.
func (s *Server) setANA(host, engine, state string) error {
	at := s.plane.hosts[host]
	if at == nil || !at.alive || at.engine != V2 || !reaches(s.node, at.node) {
		return refuse(Unavailable, "failed to set the ANA state of engine %s: the SPDK service at %s does not answer", engine, host)
	}
	return at.setTargetANA(engine, state)
}

// behind is the engine at the other end of a connection; nil while it does not answer.
func (p *Plane) behind(l link, from *node) *Instance {
	i := p.listening(l.address, TypeEngine)
	if i == nil || i.Name != l.engine || i.run == nil || i.State != Running || !reaches(from, i.server.node) {
		return nil
	}
	return i
}

// ways are the engines among which a node's kernel chooses for the I/O of a frontend: all that are optimized, or else all that are
// non-optimized. More than one is a fault of whoever set their states.
func (p *Plane) ways(f *Instance, from *node) []*Instance {
	for _, wanted := range []string{ANAOptimized, ANANonOptimized} {
		var out []*Instance
		for _, l := range f.links {
			if i := p.behind(l, from); i != nil && i.anaState() == wanted {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// checkPaths reports of each frontend of a volume whose I/O may go to two engines; the lock is held.
func (p *Plane) checkPaths(v *volume) {
	if v == nil {
		return
	}
	for d := range v.devices {
		f := d.frontend()
		if d.engine != nil || f == nil {
			continue
		}
		key, doubtful := d.node.name+"/"+d.name, false
		if ways := p.ways(f, d.node); len(ways) > 1 && f.State == Running {
			doubtful = true
			if !p.doubtful[key] {
				ways[1].run.note(EffectTwoTargets,
					fmt.Sprintf("frontend %s on node %s may send its I/O to engines %s and %s: both are %s", d.name, d.node.name,
						ways[0].Name, ways[1].Name, ways[0].anaState()))
			}
		}
		p.doubtful[key] = doubtful
	}
}

// relink has the kernels check their connections for a volume: one whose target is back continues, but when it was lost for too long. The
// only connection of a frontend is kept.
func (p *Plane) relink(v *volume) {
	if v == nil {
		return
	}
	now := p.clock.Now()
	for d := range v.devices {
		f := d.frontend()
		if f == nil {
			continue
		}
		var kept []link
		for _, l := range f.links {
			up := p.behind(l, d.node) != nil
			switch {
			case up && !l.lost.IsZero() && now.Sub(l.lost) >= p.behaviour.PathLoss && len(f.links) > 1:
				continue
			case up:
				l.lost = time.Time{}
			case l.lost.IsZero():
				l.lost = now
			}
			kept = append(kept, l)
		}
		f.links = kept
		for _, s := range d.node.servers {
			if i := s.instances[d.name]; i != nil && i != f && i.Type == TypeFrontend {
				i.links = slices.Clone(kept)
			}
		}
	}
	p.checkPaths(v)
}

func (p *Plane) relinkAll() {
	for _, v := range p.volumes {
		p.relink(v)
	}
}
