package shelltest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// Harm is what no control plane may bring about: a frontend with two targets that are open at once.
func (s *Servers) Harm() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.harm)
}

// Path is the state of the path to an engine.
func (s *Servers) Path(engine string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path(engine)
}

func (s *Servers) path(engine string) string {
	if state := s.paths[engine]; state != "" {
		return state
	}
	return "optimized"
}

// link connects a new frontend to its engine, and begins a new engine with an open path; the lock is held.
func (s *Servers) link(request imclient.CreateRequest) {
	switch request.Type {
	case v1beta2.InstanceTypeEngine:
		delete(s.paths, request.Name)
	case v1beta2.InstanceTypeEngineFrontend:
		s.linked[request.Name] = map[string]bool{request.EngineName: true}
	}
}

// set sets the state of the path to an engine, if that runs; the lock is held.
func (s *Servers) set(engine, state string) error {
	for manager, instances := range s.instances {
		if i, there := instances[engine]; there && i.Type == v1beta2.InstanceTypeEngine {
			if s.shut[manager] {
				return errDown
			}
			s.paths[engine] = state
			s.check(engine)
			return nil
		}
	}
	return refused("EngineSetTargetListenerANAState", imclient.ErrNotFound, engine)
}

// check notes two open targets of one frontend; the lock is held.
func (s *Servers) check(changed string) {
	for frontend, engines := range s.linked {
		var open []string
		for engine := range engines {
			if s.path(engine) == "optimized" && s.runs(engine) {
				open = append(open, engine)
			}
		}
		if slices.Sort(open); len(open) > 1 {
			s.harm = append(s.harm, fmt.Sprintf("%s uses %s since %s changed", frontend, strings.Join(open, " and "), changed))
		}
	}
}

func (s *Servers) runs(engine string) bool {
	for _, instances := range s.instances {
		if i, there := instances[engine]; there && i.State == v1beta2.InstanceStateRunning {
			return true
		}
	}
	return false
}

// SetANAState sets the state of the path to an engine of this server.
func (c *connection) SetANAState(ctx context.Context, engine, state string) error {
	if err := c.servers.receive(ctx, Call{Manager: c.manager, Path: engine + " " + state}); err != nil {
		return err
	}
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	if _, there := c.servers.instances[c.manager][engine]; !there {
		return refused("EngineSetTargetListenerANAState", imclient.ErrNotFound, engine)
	}
	return c.servers.set(engine, state)
}

// SwitchOver does one phase as a real server does: nothing is listed before promoting, which leaves the old path as inaccessible.
func (c *connection) SwitchOver(ctx context.Context, request imclient.SwitchOverRequest) error {
	if err := c.servers.receive(ctx, Call{Manager: c.manager, SwitchOver: &request}); err != nil {
		return err
	}
	i, ok := c.servers.Instance(c.manager, request.Name)
	if !ok || i.Frontend == nil {
		return refused("InstanceSwitchOverTarget", imclient.ErrNotFound, request.Name)
	}
	if i.Frontend.EngineName == request.EngineName && i.Frontend.ActivePath == request.TargetAddress {
		return nil
	}
	c.servers.mu.Lock()
	err := c.servers.phase(i, request)
	c.servers.mu.Unlock()
	if err != nil || request.Phase != v1beta2.SwitchoverPromoting {
		return err
	}
	f := *i.Frontend
	f.Paths = slices.DeleteFunc(slices.Clone(f.Paths), func(p imclient.Path) bool {
		return net.JoinHostPort(p.TargetIP, strconv.Itoa(int(p.TargetPort))) == request.TargetAddress
	})
	for n := range f.Paths {
		f.Paths[n].ANAState = "inaccessible"
	}
	f.Paths = append(f.Paths, path(request.EngineName, request.TargetAddress, "optimized"))
	f.ActivePath, f.PreferredPath, f.EngineName = request.TargetAddress, request.TargetAddress, request.EngineName
	i.Frontend = &f
	c.servers.Put(c.manager, i)
	return nil
}

// phase sets the states of the paths; the lock is held.
func (s *Servers) phase(i inventory.Instance, request imclient.SwitchOverRequest) error {
	old, next := i.Frontend.EngineName, request.EngineName
	switch request.Phase {
	case v1beta2.SwitchoverPreparing:
		if err := s.set(next, "inaccessible"); err != nil {
			return err
		}
		if s.linked[request.Name] == nil {
			s.linked[request.Name] = map[string]bool{old: true}
		}
		s.linked[request.Name][next] = true
		return s.set(next, "non-optimized")
	case v1beta2.SwitchoverSwitching:
		return s.set(old, "inaccessible")
	case v1beta2.SwitchoverPromoting:
		err := s.set(next, "optimized")
		if err == nil {
			return nil
		}
		for _, back := range [][2]string{{next, "inaccessible"}, {old, "optimized"}} {
			if s.set(back[0], back[1]) != nil {
				continue // best effort
			}
		}
		return err
	}
	return refused("InstanceSwitchOverTarget", imclient.ErrRefused, "unknown phase")
}
