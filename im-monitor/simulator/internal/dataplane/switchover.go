package dataplane

import (
	"net"
	"slices"
)

// The phases of a switch-over.
const (
	PhasePreparing = "preparing"
	PhaseSwitching = "switching"
	PhasePromoting = "promoting"
)

// Target is the engine that a frontend must switch over to, and where it listens (ip:port).
type Target struct{ Engine, Address string }

// SwitchOver executes one phase of a switch-over to another engine's target, or (phase "") all of them. The server remembers none: their
// order is the caller's. The states of the paths are those of the engines' listeners; record and paths change at the end of promoting only.
// A switch-over to the target on record does nothing, in every phase, even where that path is inaccessible.
func (s *Server) SwitchOver(engine, name, typ string, to Target, phase string) error {
	about := phase + " " + to.Engine
	return s.onFrontend(frontendCall{"InstanceSwitchOverTarget", engine, name, typ, about}, func(i *Instance) error {
		host, port, err := net.SplitHostPort(to.Address)
		if err != nil || host == "" || port == "" {
			return refuse(InvalidArgument, "invalid target address %q", to.Address)
		}
		if err := s.maySwitch(i); err != nil || i.onRecord(to) {
			return err
		}
		return byTargetsServer(s.phase(i, to, host, phase))
	})
}

func (s *Server) phase(i *Instance, to Target, host, phase string) error {
	switch phase {
	case PhasePreparing:
		return s.prepare(i, to, host)
	case PhaseSwitching:
		return s.closeOld(i)
	case PhasePromoting:
		return s.promote(i, to, host)
	case "":
		return s.switchAll(i, to, host)
	}
	return refuse(InvalidArgument, "unknown switchover phase %q for engine frontend %s", phase, i.Name)
}

// byTargetsServer wraps what the target's server answers: that it does not know the engine is in the text only.
func byTargetsServer(err error) error {
	if CodeOf(err) == string(NotFound) {
		return refuse(Internal, "failed to switch over the target: %v", err)
	}
	return err
}

// maySwitch refuses what cannot be switched over, or not now.
func (s *Server) maySwitch(i *Instance) error {
	if i.Frontend != FrontendBlockDevice && i.Frontend != FrontendNVMf {
		return refuse(FailedPrecondition, "frontend %s does not support target switchover for engine frontend %s", i.Frontend, i.Name)
	}
	if i.State != Running && i.State != Suspended {
		return refuse(FailedPrecondition, "engine frontend %s is %s", i.Name, i.State)
	}
	e := s.plane.listening(i.ActivePath, TypeEngine)
	switch {
	case e == nil || e.run == nil:
	case e.run.expansion.Running:
		return refuse(FailedPrecondition, "engine frontend %s is expanding", i.Name)
	case e.run.jobs.restore != nil && e.run.jobs.restore.Running:
		return refuse(FailedPrecondition, "engine frontend %s is restoring", i.Name)
	}
	return nil
}

func (i *Instance) onRecord(to Target) bool {
	return i.ActivePath == to.Address && i.EngineName == to.Engine
}

// prepare connects the new target so that it gets no I/O while the old one is optimized.
func (s *Server) prepare(i *Instance, to Target, host string) error {
	if i.Frontend == FrontendNVMf {
		return s.setANA(host, to.Engine, ANANonOptimized)
	}
	if err := s.setANA(host, to.Engine, ANAInaccessible); err != nil {
		return err
	}
	l := link{engine: to.Engine, address: to.Address}
	if s.plane.behind(l, s.node) == nil {
		return refuse(Internal, "failed to connect engine frontend %s multipath target %s", i.Name, to.Address)
	}
	if !i.linked(to) {
		i.links = append(i.links, l)
	}
	return s.setANA(host, to.Engine, ANANonOptimized)
}

func (i *Instance) linked(to Target) bool {
	return slices.ContainsFunc(i.links, func(l link) bool { return l.address == to.Address && l.engine == to.Engine })
}

// closeOld makes the target on record inaccessible; where its subsystem is gone there is nothing to close.
func (s *Server) closeOld(i *Instance) error {
	err := s.setANA(hostOf(i.ActivePath), i.EngineName, ANAInaccessible)
	if CodeOf(err) == string(Internal) {
		return nil
	}
	return err
}

// promote makes the new target optimized and saves it as the one on record. It does not close the old one. Where it fails, the new one
// becomes inaccessible and the old one optimized again, each as far as it answers.
func (s *Server) promote(i *Instance, to Target, host string) error {
	err := s.setANA(host, to.Engine, ANAOptimized)
	if err == nil && i.Frontend == FrontendBlockDevice &&
		(!i.linked(to) || s.plane.behind(link{engine: to.Engine, address: to.Address}, s.node) == nil) {
		err = refuse(Internal, "failed to reload the NVMe device of engine frontend %s for target %s", i.Name, to.Address)
	}
	if err != nil {
		for _, back := range []struct{ host, engine, state string }{{host, to.Engine, ANAInaccessible},
			{hostOf(i.ActivePath), i.EngineName, ANAOptimized}} {
			if s.setANA(back.host, back.engine, back.state) != nil {
				continue // best effort
			}
		}
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(i.Paths), func(p Path) bool { return address(p.TargetIP, p.TargetPort) == to.Address })
	for n := range kept {
		kept[n].ANAState = ANAInaccessible
	}
	path := newPath(to.Engine, to.Address, ANAOptimized)
	i.Paths = append(kept, path)
	i.ActivePath, i.EngineName, i.TargetAddress = to.Address, to.Engine, to.Address
	i.TargetPortStart, i.TargetPortEnd = path.TargetPort, path.TargetPort
	if i.Frontend == FrontendNVMf {
		i.Endpoint, i.links = endpointOf(i.Spec, path), []link{{engine: to.Engine, address: to.Address}}
	}
	return nil
}

// switchAll executes all phases; where the old target cannot be closed the new one is.
func (s *Server) switchAll(i *Instance, to Target, host string) error {
	if err := s.prepare(i, to, host); err != nil {
		return err
	}
	if err := s.closeOld(i); err != nil {
		if s.setANA(host, to.Engine, ANAInaccessible) != nil {
			return err // best effort
		}
		return err
	}
	return s.promote(i, to, host)
}

func hostOf(where string) string {
	host, _, err := net.SplitHostPort(where)
	if err != nil {
		return where
	}
	return host
}
