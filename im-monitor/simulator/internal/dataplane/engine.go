package dataplane

import (
	"fmt"
	"net"
	"strings"
	"time"
)

// Ref reports which engine a call is for: v1 by the address that it listens on, v2 by its name at this server, or by its frontend's.
type Ref struct {
	DataEngine, Address, Name, Volume, Frontend string
}

// Engine is a running engine as its own API shows it.
type Engine struct {
	Instance
	// Modes are the replicas' modes by name.
	Modes   map[string]string
	Created time.Time
	// Device is the frontend in use, DeviceEndpoint where it is; both empty without one.
	Device, DeviceEndpoint string
	Expansion              Expansion
	Settings               EngineSettings
}

// Engine is the engine that a call is for.
func (s *Server) Engine(ref Ref) (Engine, error) {
	var out Engine
	err := s.onEngine(ref, false, "", func(r *engineRun) (string, error) {
		out = Engine{Instance: r.engine.copy(), Modes: s.plane.modes(r.engine), Created: r.engine.created, Expansion: r.expansion.Expansion,
			Settings: r.settings}
		out.Size, out.Volume = r.size, r.volumeName()
		out.Device, out.DeviceEndpoint = r.frontend, endpointV1(r)
		if at := s.host(ref); r.engine.server.engine == V2 && at != nil {
			out.Device, out.DeviceEndpoint = at.deviceOf(ref)
		}
		return "", nil
	})
	return out, err
}

// deviceOf is a v2 frontend of this server and its endpoint.
func (s *Server) deviceOf(ref Ref) (frontend, endpoint string) {
	if i := s.instances[ref.Frontend]; i != nil && i.Type == TypeFrontend {
		return i.Frontend, i.Endpoint
	}
	return "", ""
}

// onEngine finds an engine and does something to it under the lock. A call that changes something has a method, and is reported to the
// journal with what do names. Calls through a v2 frontend are for the engine on its record, wherever its I/O goes.
func (s *Server) onEngine(ref Ref, throughFrontend bool, method string, do func(*engineRun) (string, error)) error {
	p := s.plane
	p.mu.Lock()
	defer p.mu.Unlock()
	r, err := s.engineFor(ref, throughFrontend)
	about := ""
	if err == nil {
		about, err = do(r)
	}
	if method == "" {
		return err
	}
	entry := Entry{Source: SourceWire, Node: s.node.name, Pod: s.pod, Method: method, Name: ref.Name, Type: TypeEngine,
		DataEngine: ref.DataEngine,
		Volume:     ref.Volume, Result: CodeOf(err), Effect: EffectNone, Message: about}
	if err != nil {
		entry.Message = strings.TrimSpace(about + " " + err.Error())
	} else {
		entry.Effect, entry.UUIDFound, entry.Volume = EffectChanged, r.engine.UUID, r.volumeName()
	}
	p.record(entry)
	if err == nil && throughFrontend {
		s.witnessFrontend(ref, r, method)
	}
	return err
}

// witnessFrontend reports of a call through a frontend that went to the engine on record while writes go to another one.
func (s *Server) witnessFrontend(ref Ref, r *engineRun, method string) {
	if r.volume == nil || ref.Frontend == "" {
		return
	}
	for d := range r.volume.devices {
		if d.name != ref.Frontend {
			continue
		}
		if used, err := s.plane.target(d); err == nil && used != r {
			r.note(EffectWrongEngine, fmt.Sprintf("%s through frontend %s went here while its I/O goes to engine %s", method, d.name,
				used.engine.Name))
		}
	}
}

// engineFor is the engine that a call is for; the lock is held.
func (s *Server) engineFor(ref Ref, throughFrontend bool) (*engineRun, error) {
	if !s.alive {
		return nil, refuse(Unavailable, "the instance manager is gone")
	}
	var i *Instance
	var err error
	at := s.host(ref)
	switch {
	case ref.DataEngine != V2:
		i, err = s.engineAt(bare(ref.Address))
	case at == nil:
		err = refuse(Unavailable, "no instance manager answers at %s", ref.Address)
	case throughFrontend:
		i, err = at.engineBehind(ref)
	default:
		i, err = at.engineNamed(ref.Name)
	}
	if err != nil {
		return nil, err
	}
	if wrong(ref.Name, i.Name) || wrong(ref.Volume, volumeOf(i.Spec)) {
		return nil, refuse(FailedPrecondition, "incorrect instance name")
	}
	return i.run, nil
}

// host is the server that a v2 call is for: of the address only the host counts, and without one it is the server that was asked. Nil when
// it does not answer.
func (s *Server) host(ref Ref) *Server {
	host, _, err := net.SplitHostPort(bare(ref.Address))
	if err != nil {
		host = bare(ref.Address)
	}
	if host == "" || host == s.ip {
		return s
	}
	at := s.plane.hosts[host]
	if at == nil || !at.alive || at.engine != s.engine || !reaches(s.node, at.node) {
		return nil
	}
	return at
}

// bare is an address without its scheme.
func bare(where string) string { return strings.TrimPrefix(where, "tcp://") }

func wrong(asked, found string) bool { return asked != "" && found != "" && asked != found }

// engineAt is the running engine that listens on ip:port, if the server reaches it.
func (s *Server) engineAt(where string) (*Instance, error) {
	i := s.plane.listening(where, TypeEngine)
	if i == nil || i.run == nil || !reaches(s.node, i.server.node) {
		return nil, refuse(Unavailable, "no engine listens on %s", where)
	}
	return i, nil
}

// engineNamed is the running engine of that name at this server.
func (s *Server) engineNamed(name string) (*Instance, error) {
	i := s.instances[name]
	if i == nil || i.Type != TypeEngine || i.State != Running || i.run == nil {
		return nil, refuse(Unavailable, "engine %s does not run here", name)
	}
	return i, nil
}

// engineBehind is the engine that a v2 frontend of this server leads to. An engine without a frontend is called by its name.
func (s *Server) engineBehind(ref Ref) (*Instance, error) {
	if ref.Frontend == "" {
		i, err := s.engineNamed(ref.Name)
		if err == nil && i.Frontend != "" {
			return nil, refuse(InvalidArgument, "the name of the engine frontend is required")
		}
		return i, err
	}
	f := s.instances[ref.Frontend]
	if f == nil || f.Type != TypeFrontend {
		return nil, refuse(Unavailable, "engine frontend %s does not run here", ref.Frontend)
	}
	if f.ActivePath == "" {
		return s.engineNamed(f.EngineName)
	}
	return s.engineAt(f.ActivePath)
}
