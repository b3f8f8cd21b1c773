package serve

import (
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// blank leaves the UUID out where a rule reports it.
func (s *Servers) blank(e *Endpoint, method string, reported dataplane.Reported) dataplane.Reported {
	if rule, ok := s.options.Faults.Poll(fault.EmptyUUID, e.Target(), method); ok && rule.Concerns(reported.Name) {
		reported.UUID = ""
	}
	return reported
}

// leftOut are the names that a partial list lacks.
func leftOut[V any](s *Servers, e *Endpoint, method string, list map[string]V) map[string]bool {
	rule, ok := s.options.Faults.Take(fault.PartialList, e.Target(), method, false)
	if !ok {
		return nil
	}
	names := rule.Names
	if len(names) == 0 {
		for name := range list {
			names = append(names, name)
		}
		slices.Sort(names)
		fraction := rule.Fraction
		if fraction <= 0 || fraction > 1 {
			fraction = 0.5
		}
		names = names[:int(float64(len(names))*fraction+0.5)]
	}
	left := map[string]bool{}
	for _, name := range names {
		left[name] = true
	}
	return left
}

// hugeBytes is more than a client should take.
const hugeBytes = 64 << 20

// spoil makes garbage of a list where a rule reports it.
func (s *Servers) spoil(e *Endpoint, list *imrpc.InstanceListResponse) {
	rule, ok := s.options.Faults.Take(fault.Garbage, e.Target(), "InstanceList", false)
	if !ok {
		return
	}
	if rule.Mode == "renamed" {
		list.Instances = renamed(list.Instances)
		return
	}
	for name, i := range list.Instances {
		if !rule.Concerns(name) {
			continue
		}
		switch rule.Mode {
		case "types":
			i.Spec.Type, i.Status.State, i.Spec.DataEngine = "teapot", "brewing", 99
			i.Status.Uuid = "not a UUID \n\x00"
		case "huge":
			i.Status.ErrorMsg = strings.Repeat("x", hugeBytes)
			return
		case "empty":
			list.Instances[name] = &imrpc.InstanceResponse{}
		case "utf8":
			i.Status.ErrorMsg = "\xff\xfe"
		}
	}
}

// renamed lists every instance under a name that is not its own.
func renamed(in map[string]*imrpc.InstanceResponse) map[string]*imrpc.InstanceResponse {
	out := map[string]*imrpc.InstanceResponse{}
	for name, i := range in {
		out[name+"-renamed"] = i
	}
	return out
}
