package realnode

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// nothing is the answer to a request that only does something.
type nothing struct{}

// Handler answers the simulator's control endpoint for real nodes. removeNode removes a node with its object.
func (m *Machine) Handler(removeNode func(context.Context, string) error) http.Handler {
	return control.Route(m.options.Log, map[string]control.Handle{
		"GET /v1/status": m.status,
		"GET /v1/nodes":  func(*http.Request) (any, error) { return m.Nodes(), nil },
		"POST /v1/nodes": m.addNodes,
		"DELETE /v1/nodes/{name}": func(r *http.Request) (any, error) {
			return nothing{}, removeNode(r.Context(), r.PathValue("name"))
		},
		"POST /v1/nodes/{name}/state":        m.setNode,
		"GET /v1/pods":                       func(*http.Request) (any, error) { return m.Pods(), nil },
		"POST /v1/pods/{name}/restart":       m.onPodOf(m.Restart),
		"POST /v1/pods/{name}/crash":         m.onPodOf(m.Crash),
		"GET /v1/instances":                  m.listInstances,
		"POST /v1/instances":                 m.putInstances,
		"PATCH /v1/instances/{node}/{name}":  m.changeInstance,
		"DELETE /v1/instances/{node}/{name}": m.removeInstance,
		"POST /v1/backing-images":            m.putBacking,
		"POST /v1/engine-images":             m.putEngineImage,
		"GET /v1/journal":                    m.readJournal,
		"GET /v1/volumes":                    m.listVolumes,
		"GET /v1/volumes/{name}/verify":      func(r *http.Request) (any, error) { return m.verify(r.PathValue("name")) },
		"GET /v1/volumes/{name}/read":        m.readVolume,
		"POST /v1/volumes/{name}/write":      m.writeVolume,
		"POST /v1/volumes/{name}/save":       m.saveVolume,
		"GET /v1/writers": func(r *http.Request) (any, error) {
			return shownWriters(m.listWriters(r.URL.Query().Get("volume"))), nil
		},
		"POST /v1/writers": m.addWriter,
		"DELETE /v1/writers": func(r *http.Request) (any, error) {
			return shownWriters(m.stopWriters(r.URL.Query().Get("volume"))), nil
		},
		"POST /v1/copy-time": m.holdCopies,
		"GET /v1/faults":     func(*http.Request) (any, error) { return m.front.list(), nil },
		"POST /v1/faults":    m.addFault,
		"DELETE /v1/faults":  m.clearFaults,
		"/":                  notServed,
	})
}

// notServed answers a request that only the simulator serves.
func notServed(r *http.Request) (any, error) {
	return nil, fmt.Errorf("%w: %s %s, since the servers are real", control.ErrNotServed, r.Method, r.URL.Path)
}

func (m *Machine) status(*http.Request) (any, error) {
	return control.Status{Mode: "real", Block: "198.18.0.0/16", PortOffset: m.options.PortOffset, TLS: m.options.TLSDirectory != "",
		Nodes: len(m.Nodes()), Pods: len(m.Pods()), Faults: len(m.front.list())}, nil
}

func (m *Machine) addNodes(r *http.Request) (any, error) {
	in, err := control.Read[control.AddNodes](r)
	if err != nil {
		return nil, err
	}
	for _, name := range in.Names {
		if err := m.AddNode(name); err != nil {
			return nil, err
		}
	}
	return in.Names, nil
}

func (m *Machine) setNode(r *http.Request) (any, error) {
	in, err := control.Read[control.SetNode](r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]machine.NodeState{machine.Up, machine.Cut, machine.Dead}, in.State) {
		return nil, control.BadRequest(fmt.Errorf("state %q is not up, cut or dead", in.State))
	}
	return nothing{}, m.SetNode(r.PathValue("name"), in.State)
}

// onPodOf does something to a pod, which is named as itself or as node:engine.
func (m *Machine) onPodOf(do func(string) error) control.Handle {
	return func(r *http.Request) (any, error) {
		name := r.PathValue("name")
		if node, engine, found := strings.Cut(name, ":"); found {
			p, err := m.on(node, engine)
			if err != nil {
				return nil, err
			}
			name = p.Name
		}
		return nothing{}, do(name)
	}
}

func (m *Machine) putEngineImage(r *http.Request) (any, error) {
	in, err := control.Read[control.SetEngineImage](r)
	if err != nil {
		return nil, err
	}
	if in.CLI != CLIVersion {
		return nil, fmt.Errorf("%w: an engine image of CLI API version %d: the engine binary has %d", control.ErrNotServed, in.CLI, CLIVersion)
	}
	return nothing{}, m.AddEngineImage(in.Image)
}

// CLIVersion is the CLI API version of the engine binaries that this package was written for.
const CLIVersion = 12
