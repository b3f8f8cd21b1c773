package dataplane

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
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
	i.Paths, i.ActivePath, i.links = []Path{path}, spec.TargetAddress, []link{{engine: spec.EngineName, address: spec.TargetAddress}}
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

// connects reports whether an engine's target answers.
func (s *Server) connects(where string) bool {
	e := s.plane.listening(where, TypeEngine)
	return e != nil && reaches(s.node, e.server.node)
}

func newPath(engine, where, state string) Path {
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		host = where
	}
	return Path{EngineName: engine, TargetIP: host, TargetPort: targetPort(where), NQN: "nqn.2023-01.io.longhorn.spdk:" + engine,
		ANAState: state}
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

// Suspend makes a block device hold its I/O. Other frontends cannot, and report it in their error message.
func (s *Server) Suspend(engine, name, typ string) error {
	return s.onFrontend(frontendCall{"InstanceSuspend", engine, name, typ, ""},
		func(i *Instance) error { return i.turn(Running, Suspended) })
}

// Resume makes a suspended block device carry on with its I/O.
func (s *Server) Resume(engine, name, typ string) error {
	return s.onFrontend(frontendCall{"InstanceResume", engine, name, typ, ""},
		func(i *Instance) error { return i.turn(Suspended, Running) })
}

// DeleteTarget disconnects a frontend from its target.
func (s *Server) DeleteTarget(engine, name, typ string) error {
	if engine == V2 && s.engine == V2 && typ != TypeFrontend {
		return refuse(Internal, "failed to delete the target of %s: rpc error: code = Unimplemented", name)
	}
	return s.onFrontend(frontendCall{"InstanceDeleteTarget", engine, name, typ, ""}, func(i *Instance) error {
		i.Paths, i.links, i.ActivePath, i.TargetPortStart, i.TargetPortEnd = nil, nil, "", 0, 0
		return nil
	})
}

// turn changes a state; being there already is fine.
func (i *Instance) turn(from, to string) error {
	switch {
	case i.State == to:
		return nil
	case i.Frontend != FrontendBlockDevice:
		i.ErrorMsg = fmt.Sprintf("frontend %q does not support suspend and resume", i.Frontend)
		return refuse(Unimplemented, "%s", i.ErrorMsg)
	case i.State != from:
		return refuse(FailedPrecondition, "instance %s is %s, not %s", i.Name, i.State, from)
	}
	i.State = to
	return nil
}

// frontendCall is a call to a v2 frontend; about is what the journal has of it beside the rest.
type frontendCall struct{ method, engine, name, typ, about string }

// onFrontend changes one v2 frontend and what the node's kernel holds of it, also where the call then fails: what was done before stays
// done. Everything else does not implement it.
func (s *Server) onFrontend(c frontendCall, change func(*Instance) error) error {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	i := s.instances[c.name]
	switch {
	case !s.alive:
		return refuse(Unavailable, "the instance manager is gone")
	case c.engine != V2 || s.engine != V2:
		return refuse(Unimplemented, "not implemented for data engine v1")
	case c.typ != TypeFrontend:
		return refuse(Unimplemented, "not implemented for instances of type %s", c.typ)
	case i == nil || i.Type != TypeFrontend:
		return refuse(NotFound, "cannot find engine frontend %s", c.name)
	}
	before := i.copy()
	err := change(i)
	if old := s.node.frontends[c.name]; old != nil {
		held := i.copy()
		if held.State != Suspended && held.State != Running {
			held.State = old.State
		}
		s.node.frontends[c.name] = &held
	}
	s.keepRecord(i)
	s.journalFrontend(c, i, err)
	s.plane.checkPaths(s.plane.volume(volumeOf(i.Spec)))
	if !slices.Equal(before.Paths, i.Paths) || before.State != i.State || before.ErrorMsg != i.ErrorMsg ||
		before.ActivePath != i.ActivePath {
		s.changed()
	}
	return err
}

func (s *Server) journalFrontend(c frontendCall, i *Instance, err error) {
	e := Entry{Source: SourceWire, Node: s.node.name, Pod: s.pod, Method: c.method, Name: c.name, Type: TypeFrontend, DataEngine: V2,
		Volume: volumeOf(i.Spec), Result: CodeOf(err), Effect: EffectChanged, Message: c.about}
	if err != nil {
		e.Effect, e.Message = EffectNone, strings.TrimSpace(c.about+" "+err.Error())
	}
	s.plane.record(e)
}
