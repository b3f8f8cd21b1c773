package dataplane

import (
	"fmt"
	"net"
	"strconv"
)

// States of a path of a v2 frontend.
const (
	ANAOptimized    = "optimized"
	ANANonOptimized = "non-optimized"
	ANAInaccessible = "inaccessible"
)

// newFrontend connects to a target and leaves a record.
func (s *Server) newFrontend(spec Spec, source string) *Instance {
	i := &Instance{Spec: spec, State: Pending, server: s}
	if spec.Frontend == "" && source == SourceWire {
		return i
	}
	i.TargetPortStart, i.TargetPortEnd = targetPort(spec.TargetAddress), targetPort(spec.TargetAddress)
	if source == SourceWire && !s.connects(spec.TargetAddress) {
		return i.fail("cannot connect to the target at " + spec.TargetAddress)
	}
	path := newPath(spec.EngineName, spec.TargetAddress, ANAOptimized)
	i.Paths, i.ActivePath = []Path{path}, spec.TargetAddress
	i.Endpoint = endpointOf(spec, path)
	if spec.Frontend != FrontendUblk {
		held := i.copy()
		s.node.frontends[spec.Name] = &held
	}
	s.keepRecord(i)
	s.plane.epoch++
	s.plane.openDevice(i, s.plane.epoch)
	return i
}

// connects tells whether an engine's target answers.
func (s *Server) connects(where string) bool {
	e := s.plane.listening(where, TypeEngine)
	return e != nil && reaches(s.node, e.server.node)
}

func newPath(engine, where, state string) Path {
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		host = where
	}
	return Path{EngineName: engine, TargetIP: host, TargetPort: targetPort(where), NQN: "nqn.2023-01.io.longhorn.spdk:" + engine, ANAState: state}
}

func targetPort(where string) int32 {
	_, port, err := net.SplitHostPort(where)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

func endpointOf(spec Spec, p Path) string {
	if spec.Frontend == FrontendNVMf {
		return fmt.Sprintf("nvmf://%s:%d/%s", p.TargetIP, p.TargetPort, p.NQN)
	}
	return "/dev/longhorn/" + volumeOf(spec)
}

// Target is the engine that a frontend shall move to, and where it listens (ip:port).
type Target struct{ Engine, Address string }

// SwitchOver moves a frontend to another engine's target, in phases or (phase "") all at once. Each phase may be repeated.
func (s *Server) SwitchOver(engine, name, typ string, to Target, phase string) error {
	target, engineName := to.Address, to.Engine
	return s.onFrontend(engine, name, typ, func(i *Instance) error {
		if e := s.plane.listening(target, TypeEngine); !s.connects(target) || e.Name != engineName {
			return refuse(FailedPrecondition, "engine %s does not listen on %s", engineName, target)
		}
		switch phase {
		case "preparing":
			i.prepare(engineName, target)
		case "switching":
			return i.inaccessible(target)
		case "promoting":
			return i.promote(engineName, target)
		case "":
			i.prepare(engineName, target)
			return i.promote(engineName, target)
		default:
			return refuse(InvalidArgument, "unknown switch-over phase %q", phase)
		}
		return nil
	})
}

// prepare connects the new path beside the old one.
func (i *Instance) prepare(engine, target string) {
	for _, p := range i.Paths {
		if address(p.TargetIP, p.TargetPort) == target {
			return
		}
	}
	i.Paths = append(i.Paths, newPath(engine, target, ANANonOptimized))
}

// inaccessible cuts every path but the new one off.
func (i *Instance) inaccessible(target string) error {
	if !i.prepared(target) {
		return refuse(FailedPrecondition, "the path to %s is not prepared", target)
	}
	for n, p := range i.Paths {
		if address(p.TargetIP, p.TargetPort) != target {
			i.Paths[n].ANAState = ANAInaccessible
		}
	}
	return nil
}

// promote makes the new path the active and only one.
func (i *Instance) promote(engine, target string) error {
	if !i.prepared(target) {
		return refuse(FailedPrecondition, "the path to %s is not prepared", target)
	}
	i.Paths = []Path{newPath(engine, target, ANAOptimized)}
	i.ActivePath, i.EngineName, i.TargetAddress = target, engine, target
	i.TargetPortStart, i.TargetPortEnd = targetPort(target), targetPort(target)
	if i.Frontend == FrontendNVMf {
		i.Endpoint = endpointOf(i.Spec, i.Paths[0])
	}
	return nil
}

func (i *Instance) prepared(target string) bool {
	for _, p := range i.Paths {
		if address(p.TargetIP, p.TargetPort) == target {
			return true
		}
	}
	return false
}

// Suspend holds a frontend's I/O, Resume lets it go on.
func (s *Server) Suspend(engine, name, typ string) error {
	return s.onFrontend(engine, name, typ, func(i *Instance) error { return i.turn(Running, Suspended) })
}

// Resume lets a suspended frontend's I/O go on.
func (s *Server) Resume(engine, name, typ string) error {
	return s.onFrontend(engine, name, typ, func(i *Instance) error { return i.turn(Suspended, Running) })
}

// DeleteTarget disconnects a frontend from its target.
func (s *Server) DeleteTarget(engine, name, typ string) error {
	return s.onFrontend(engine, name, typ, func(i *Instance) error {
		i.Paths, i.ActivePath, i.TargetPortStart, i.TargetPortEnd = nil, "", 0, 0
		return nil
	})
}

// turn changes a state; being there already is fine.
func (i *Instance) turn(from, to string) error {
	if i.State != from && i.State != to {
		return refuse(FailedPrecondition, "instance %s is %s, not %s", i.Name, i.State, from)
	}
	i.State = to
	return nil
}

// onFrontend changes one v2 frontend, and what the node's kernel holds of it. Everything else does not implement it.
func (s *Server) onFrontend(engine, name, typ string, change func(*Instance) error) error {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	i := s.instances[name]
	switch {
	case !s.alive:
		return refuse(Unavailable, "the instance manager is gone")
	case engine != V2 || s.engine != V2:
		return refuse(Unimplemented, "not implemented for data engine v1")
	case typ != TypeFrontend:
		return refuse(Unimplemented, "not implemented for instances of type %s", typ)
	case i == nil || i.Type != TypeFrontend:
		return refuse(NotFound, "cannot find engine frontend %s", name)
	}
	if err := change(i); err != nil {
		return err
	}
	if old := s.node.frontends[name]; old != nil {
		held := i.copy()
		if held.State != Suspended && held.State != Running {
			held.State = old.State
		}
		s.node.frontends[name] = &held
	}
	s.keepRecord(i)
	s.changed()
	return nil
}
