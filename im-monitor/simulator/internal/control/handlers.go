package control

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

type nothing struct{}

func (s *Server) status(*http.Request) (any, error) {
	o, pods := s.options, s.options.Machine.Pods()
	out := Status{Mode: o.Mode, Block: o.Block.String(), PortOffset: o.PortOffset, TLS: o.TLS, Nodes: len(o.Machine.Nodes()),
		Pods:   len(pods),
		Faults: len(o.Faults.List())}
	for _, p := range pods {
		if server, ok := o.Plane.ServerOf(p.Name); ok {
			out.Instances += server.Count()
		}
	}
	return out, nil
}

func (s *Server) nodes(*http.Request) (any, error) {
	out := []Node{}
	for _, n := range s.options.Machine.Nodes() {
		out = append(out, Node{NodeInfo: n, Devices: s.options.Plane.Devices(n.Name)})
	}
	return out, nil
}

func (s *Server) addNodes(r *http.Request) (any, error) {
	in, err := Read[AddNodes](r)
	if err != nil {
		return nil, err
	}
	if in.Prefix == "" {
		in.Prefix = "node-"
	}
	for n := 1; n <= in.Count; n++ {
		in.Names = append(in.Names, in.Prefix+strconv.Itoa(n))
	}
	for _, name := range in.Names {
		s.options.Machine.AddNode(name)
	}
	return in.Names, nil
}

func (s *Server) removeNode(r *http.Request) (any, error) {
	return nothing{}, s.options.RemoveNode(r.Context(), r.PathValue("name"))
}

func (s *Server) setNode(r *http.Request) (any, error) {
	in, err := Read[SetNode](r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]machine.NodeState{machine.Up, machine.Cut, machine.Dead}, in.State) {
		return nil, fmt.Errorf("%w: state %q is not up, cut or dead", errBadRequest, in.State)
	}
	return nothing{}, s.options.Machine.SetNode(r.PathValue("name"), in.State)
}

func (s *Server) pods(*http.Request) (any, error) { return s.options.Machine.Pods(), nil }

// podName finds the pod of `node:engine`; any other name is the pod's own.
func (s *Server) podName(r *http.Request) (string, error) {
	name := r.PathValue("name")
	node, engine, ok := strings.Cut(name, ":")
	if !ok {
		return name, nil
	}
	server, err := s.options.Machine.Server(node, engine)
	if err != nil {
		return "", err
	}
	return server.Pod(), nil
}

func (s *Server) restart(r *http.Request) (any, error) {
	in, err := Read[Restart](r)
	if err != nil {
		return nil, err
	}
	pod, err := s.podName(r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Machine.Restart(pod, in.Keep, time.Duration(in.Down))
}

func (s *Server) crash(r *http.Request) (any, error) {
	pod, err := s.podName(r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Machine.Crash(pod)
}

func (s *Server) instances(r *http.Request) (any, error) {
	q := r.URL.Query()
	out := []Instance{}
	for _, p := range s.options.Machine.Pods() {
		if Differs(q.Get("node"), p.Node) || Differs(q.Get("engine"), p.DataEngine) || Differs(q.Get("pod"), p.Name) {
			continue
		}
		server, ok := s.options.Plane.ServerOf(p.Name)
		if !ok {
			continue
		}
		for name, i := range server.True() {
			if !Differs(q.Get("name"), name) {
				out = append(out, Instance{Node: p.Node, Pod: p.Name, Instance: i, ReportedUUID: server.Report(i).UUID})
			}
		}
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(a.Pod+"/"+a.Name, b.Pod+"/"+b.Name) })
	return out, nil
}

// Differs reports whether a value is not the wanted one; an empty wanted value stands for every value.
func Differs(wanted, found string) bool { return wanted != "" && wanted != found }

func (s *Server) put(r *http.Request) (any, error) {
	in, err := Read[PutRequest](r)
	if err != nil {
		return nil, err
	}
	out := PutAnswer{}
	for _, p := range in.Instances {
		if p.DataEngine == "" {
			p.DataEngine = dataplane.V1
		}
		server, err := s.options.Machine.Server(p.Node, p.DataEngine)
		if err != nil {
			return nil, err
		}
		made, err := server.Put(p.Spec, p.State, p.UUID)
		if err != nil {
			return nil, fmt.Errorf("instance %s on node %s: %w", p.Name, p.Node, err)
		}
		out.Count++
		if !in.CountOnly {
			out.Instances = append(out.Instances,
				Instance{Node: p.Node, Pod: server.Pod(), Instance: made, ReportedUUID: server.Report(made).UUID})
		}
	}
	return out, nil
}

func (s *Server) change(r *http.Request) (any, error) {
	in, err := Read[dataplane.Change](r)
	if err != nil {
		return nil, err
	}
	return s.options.Plane.Change(r.PathValue("node"), r.PathValue("name"), in)
}

func (s *Server) remove(r *http.Request) (any, error) {
	return nothing{}, s.options.Plane.Remove(r.PathValue("node"), r.PathValue("name"), r.URL.Query().Get("destroy") == "true")
}

func (s *Server) held(r *http.Request) (any, error) {
	out := []Held{}
	for _, n := range s.options.Machine.Nodes() {
		if Differs(r.URL.Query().Get("node"), n.Name) {
			continue
		}
		out = append(out, Held{Node: n.Name, Lvols: s.options.Plane.LvolsOf(n.Name), Directories: s.options.Plane.DirectoriesOf(n.Name),
			Devices: s.options.Plane.Devices(n.Name)})
	}
	return out, nil
}

func (s *Server) putBacking(r *http.Request) (any, error) {
	in, err := Read[dataplane.Backing](r)
	if err != nil {
		return nil, err
	}
	if in.Node == "" || in.Path == "" && (in.DiskUUID == "" || in.Image == "") {
		return nil, fmt.Errorf("%w: a backing image needs a node, and a path or a disk UUID and an image", errBadRequest)
	}
	s.options.Plane.PutBacking(in)
	return nothing{}, nil
}

func (s *Server) setDirectory(r *http.Request) (any, error) {
	in, err := Read[SetDirectory](r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.options.Plane.SetDirectory(in.Node, in.Path, in.Size)
}

func (s *Server) setEngineImage(r *http.Request) (any, error) {
	in, err := Read[SetEngineImage](r)
	if err != nil {
		return nil, err
	}
	if in.Image == "" || in.CLI < 1 {
		return nil, fmt.Errorf("%w: an engine image needs a name and a CLI API version", errBadRequest)
	}
	s.options.Plane.SetEngineImage(in.Image, in.CLI)
	return nothing{}, nil
}

// journal answers with the entries after a serial number that match; with wait it waits for one.
func (s *Server) journal(r *http.Request) (any, error) {
	return ReadJournal(r, s.options.Plane.Journal)
}

// ReadJournal answers a request for the entries of a journal after a serial number that have the source, node, name and method of the
// request, each if it is given. Without such an entry it waits as long as the request asks. read returns the entries after a serial
// number, and waits for one until its context ends. A number or duration that cannot be parsed is a bad request.
func ReadJournal(r *http.Request, read func(ctx context.Context, after uint64) []dataplane.Entry) ([]dataplane.Entry, error) {
	q := r.URL.Query()
	after, err := strconv.ParseUint("0"+q.Get("after"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: after: %w", errBadRequest, err)
	}
	wait, err := time.ParseDuration("0" + q.Get("wait"))
	if q.Get("wait") != "" && err != nil {
		return nil, fmt.Errorf("%w: wait: %w", errBadRequest, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(wait, LongestWait))
	defer cancel()
	out := []dataplane.Entry{}
	for len(out) == 0 {
		entries := read(ctx, after)
		if len(entries) == 0 {
			break
		}
		after = entries[len(entries)-1].Serial
		for _, e := range entries {
			if !Differs(q.Get("source"), e.Source) && !Differs(q.Get("node"), e.Node) && !Differs(q.Get("name"), e.Name) &&
				!Differs(q.Get("method"), e.Method) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func (s *Server) faults(*http.Request) (any, error) { return s.options.Faults.List(), nil }

func (s *Server) addFault(r *http.Request) (any, error) {
	in, err := Read[fault.Rule](r)
	if err != nil {
		return nil, err
	}
	id, err := s.options.Faults.Add(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRequest, err)
	}
	return AddedFault{ID: id}, nil
}

func (s *Server) clearFaults(r *http.Request) (any, error) {
	return Cleared{Count: s.options.Faults.Clear(r.URL.Query().Get("id"), r.URL.Query().Get("node"))}, nil
}
