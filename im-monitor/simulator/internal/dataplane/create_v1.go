package dataplane

import (
	"net"
	"strconv"
	"strings"
)

// newProcess makes a v1 instance. Its type is guessed from its name, its volume is not told, its UUID is the process's own.
func (s *Server) newProcess(spec Spec, source string) (*Instance, error) {
	if source == SourceWire && (spec.Binary == "" || len(spec.Args) == 0) {
		return nil, refuse(InvalidArgument, "process %s has no binary or arguments", spec.Name)
	}
	if spec.Replicas == nil {
		spec.Replicas = s.replicasIn(optionsOf(spec.Args)["--replica"])
	}
	asked := spec.Type
	spec.Type = guessType(spec.Name)
	if source == SourceControl && asked != "" {
		spec.Type = asked
	}
	i := &Instance{Spec: spec, UUID: s.plane.newUUID(), State: Starting}
	if spec.Type == TypeReplica {
		s.node.directories[spec.Name] = true
	}
	if source == SourceWire && spec.Type == TypeEngine {
		if problem := s.engineProblem(spec.Args); problem != "" {
			return i.fail(problem), nil
		}
	}
	count := max(spec.PortCount, 1)
	i.PortStart, i.PortEnd = s.node.takePorts(V1, count)
	if spec.Type == TypeEngine {
		i.TargetPortStart, i.TargetPortEnd = i.PortStart, i.PortEnd
	}
	return i, nil
}

// guessType is how a v1 server knows an instance's type.
func guessType(name string) string {
	if strings.Contains(name, "-e-") {
		return TypeEngine
	}
	return TypeReplica
}

// engineProblem says why an engine process would exit at once, "" when it would not.
func (s *Server) engineProblem(args []string) string {
	options := optionsOf(args)
	number := func(name string) uint64 {
		if len(options[name]) == 0 {
			return 0
		}
		n, err := strconv.ParseUint(options[name][0], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	switch {
	case number("--size") == 0 || number("--current-size") == 0:
		return "process exited: size and current-size are required: exit status 1"
	case number("--rebuild-sync-concurrent-limit") == 0:
		return "process exited: rebuild-sync-concurrent-limit must be at least 1: exit status 1"
	case !s.anyReplica(options["--replica"]):
		return "process exited: no usable replica: exit status 61"
	}
	return ""
}

// optionsOf are the values of each `--option` among arguments.
func optionsOf(args []string) map[string][]string {
	options := map[string][]string{}
	for i := 0; i < len(args)-1; i++ {
		if strings.HasPrefix(args[i], "--") {
			options[args[i]] = append(options[args[i]], args[i+1])
		}
	}
	return options
}

// replicasIn are the replicas at addresses, by name; by address where none listens.
func (s *Server) replicasIn(addresses []string) map[string]string {
	var out map[string]string
	for _, a := range addresses {
		where := strings.TrimPrefix(a, "tcp://")
		name := where
		if r := s.plane.replicaAt(where); r != nil {
			name = r.Name
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = where
	}
	return out
}

// anyReplica tells whether a running replica of the cluster listens on one of the addresses.
func (s *Server) anyReplica(addresses []string) bool {
	for _, a := range addresses {
		if s.plane.replicaAt(strings.TrimPrefix(a, "tcp://")) != nil {
			return true
		}
	}
	return false
}

// replicaAt finds the running replica that listens on ip:port; the lock is held.
func (p *Plane) replicaAt(where string) *Instance {
	return p.listening(where, TypeReplica)
}

// listening finds the running instance of a type that listens on ip:port; the lock is held.
func (p *Plane) listening(where, typ string) *Instance {
	ip, _, err := net.SplitHostPort(where)
	s := p.addresses[ip]
	if err != nil || s == nil {
		return nil
	}
	for _, i := range s.instances {
		if i.Type == typ && (i.State == Running || i.State == Starting) && address(s.ip, i.PortStart) == where {
			return i
		}
	}
	return nil
}
