package dataplane

import (
	"cmp"
	"strings"
)

// newProcess makes a v1 instance. Its type is what its arguments run, and listed is what is guessed from its name; its volume is not
// reported, its UUID is the process's own.
func (s *Server) newProcess(spec Spec, source string) (*Instance, error) {
	if source == SourceWire && (spec.Binary == "" || len(spec.Args) == 0) {
		return nil, refuse(InvalidArgument, "process %s has no binary or arguments", spec.Name)
	}
	if spec.Replicas == nil {
		spec.Replicas = s.replicasIn(arguments(spec.Args).all("--replica"))
	}
	asked := spec.Type
	spec.Type = cmp.Or(arguments(spec.Args).runs(), guessType(spec.Name))
	listedAs := guessType(spec.Name)
	if source == SourceControl && asked != "" {
		spec.Type, listedAs = asked, asked
	}
	i := &Instance{Spec: spec, UUID: s.plane.newUUID(), State: Starting, listedAs: listedAs, server: s}
	if problem := s.startProcess(i, source); problem != "" {
		return i.fail(problem), nil
	}
	count := max(spec.PortCount, 1)
	i.PortStart, i.PortEnd = s.node.takePorts(V1, count)
	if spec.Type == TypeEngine {
		i.TargetPortStart, i.TargetPortEnd = i.PortStart, i.PortEnd
	}
	return i, nil
}

// startProcess runs a v1 process; it answers why that exits at once, or "".
func (s *Server) startProcess(i *Instance, source string) string {
	cli := s.plane.cliOf(i.Binary)
	if source == SourceWire {
		if problem := s.lacksBinary(i.Binary); problem != "" {
			return problem
		}
		if _, problem := arguments(i.Args).understood(cli); problem != "" {
			return problem
		}
	}
	switch i.Type {
	case TypeReplica:
		return s.openDirectory(i, source)
	case TypeEngine:
		if problem := engineProblem(i.takes(), cli); problem != "" && source == SourceWire {
			return problem
		}
		switch problem := s.plane.start(i, source); problem {
		case "":
		case noneAnswers:
			return exited(problem, 1)
		default:
			return exited(problem, 61)
		}
	}
	return ""
}

// takes returns the arguments that have an effect on a v1 process.
func (i *Instance) takes() arguments {
	if i.server.engine != V1 || len(i.Args) == 0 {
		return nil
	}
	known, _ := arguments(i.Args).understood(i.server.plane.cliOf(i.Binary))
	return known
}

// guessType is the type by which a v1 server lists an instance, whatever it runs.
func guessType(name string) string {
	if strings.Contains(name, "-e-") {
		return TypeEngine
	}
	return TypeReplica
}

// engineProblem reports why an engine process would exit at once, "" when it would not.
func engineProblem(a arguments, cli int) string {
	switch {
	case cli >= 6 && (a.number("--size") == 0 || !a.has("--current-size")):
		return exited("size and current-size are required", 1)
	case cli >= 11 && a.number("--rebuild-sync-concurrent-limit") == 0:
		return exited("rebuild-sync-concurrent-limit must be at least 1", 1)
	}
	return ""
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
