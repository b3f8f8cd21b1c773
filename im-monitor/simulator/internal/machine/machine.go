// Package machine is the simulated machines: which nodes there are and whether they can be reached, which pods' processes run on them, at
// which loopback address. The kubelet and the control endpoint act on it; it reports the kubelet what happened by itself.
package machine

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/simulator/internal/address"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/serve"
)

// NodeState reports what has become of a node.
type NodeState string

// The states of a node.
const (
	// Up nodes run and are reached.
	Up NodeState = "up"
	// Cut nodes run, but no one reaches them, nor they the API server.
	Cut NodeState = "cut"
	// Dead nodes run nothing.
	Dead NodeState = "dead"
)

// ErrNotFound is the error for a node or pod that is not here.
var ErrNotFound = errors.New("not found")

// Pod is the process of one instance-manager pod.
type Pod struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Node       string `json:"node"`
	DataEngine string `json:"dataEngine"`
	IP         string `json:"ip"`
	// Metadata is the host path that the pod mounts at /metadata: where records of v2 frontends are. Empty means that it mounts none.
	Metadata string `json:"metadata,omitempty"`
	// Image is the image of its container; empty is the newest one.
	Image       string    `json:"image,omitempty"`
	ContainerID string    `json:"containerID"`
	Started     time.Time `json:"started"`
	Restarts    int32     `json:"restarts"`
	// Exited is true once the process is gone and will not come back; ExitReason reports why.
	Exited     bool   `json:"exited"`
	ExitReason string `json:"exitReason,omitempty"`
	// Ready is false while the process is down between two runs.
	Ready bool `json:"ready"`
	// Watchers is how many InstanceWatch streams its server knows.
	Watchers int `json:"watchers"`

	server   *dataplane.Server
	endpoint *serve.Endpoint
	binaries string // the directory of the host that it has at /engine-binaries
}

// Options are what machines are made of.
type Options struct {
	Plane   *dataplane.Plane
	Servers *serve.Servers
	Faults  *fault.Set
	Block   *address.Block
	Clock   clock.WithDelayedExecution
	NewUUID func() string
	// StickyAddresses gives a pod the address that a pod of the same name had before.
	StickyAddresses bool
	Log             *slog.Logger
}

// Machine is all nodes and their pods.
type Machine struct {
	options Options

	mu        sync.Mutex
	nodes     map[string]NodeState
	pods      map[string]*Pod
	addresses map[string]string // sticky ones, by pod
	onPod     func(pod string)
	onNode    func(node string, state NodeState)
}

// New makes a machine without nodes.
func New(o Options) *Machine {
	return &Machine{options: o, nodes: map[string]NodeState{}, pods: map[string]*Pod{}, addresses: map[string]string{},
		onPod: func(string) {}, onNode: func(string, NodeState) {}}
}

// Observe has functions called after something happened to a pod or a node. Set it before use.
func (m *Machine) Observe(onPod func(string), onNode func(string, NodeState)) {
	m.onPod, m.onNode = onPod, onNode
}

// AddNode makes a node known, up.
func (m *Machine) AddNode(name string) {
	m.mu.Lock()
	_, known := m.nodes[name]
	if !known {
		m.nodes[name] = Up
	}
	m.mu.Unlock()
	if !known {
		m.onNode(name, Up)
	}
}

// RemoveNode ends every process of a node and forgets it; what its disks hold stays.
func (m *Machine) RemoveNode(name string) error {
	if err := m.SetNode(name, Dead); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.nodes, name)
	m.mu.Unlock()
	return nil
}

// NodeInfo is one node.
type NodeInfo struct {
	Name  string    `json:"name"`
	State NodeState `json:"state"`
}

// Nodes are all nodes by name.
func (m *Machine) Nodes() []NodeInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]NodeInfo, 0, len(m.nodes))
	for name, state := range m.nodes {
		out = append(out, NodeInfo{Name: name, State: state})
	}
	slices.SortFunc(out, func(a, b NodeInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// NodeState is a node's state; false when it is not one of ours.
func (m *Machine) NodeState(name string) (NodeState, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.nodes[name]
	return state, ok
}

// nodeRule is the fault that a node's state is for the link.
func nodeRule(name string) string { return "node-" + name }

// SetNode cuts a node off, kills it or brings it back. A killed node's processes are gone for good.
func (m *Machine) SetNode(name string, state NodeState) error {
	m.mu.Lock()
	before, ok := m.nodes[name]
	if !ok {
		m.mu.Unlock()
		return fmt.Errorf("node %s: %w", name, ErrNotFound)
	}
	if state == Cut && before == Dead {
		m.mu.Unlock()
		return fmt.Errorf("node %s is dead: bring it back first", name)
	}
	m.nodes[name] = state
	if state == Dead {
		for _, p := range m.pods {
			if p.Node == name {
				m.exit(p, "NodeShutdown")
			}
		}
	}
	m.mu.Unlock()
	m.options.Plane.SetCut(name, state == Cut)
	if state == Dead {
		m.options.Plane.Reboot(name)
	}
	if state == Cut {
		if _, err := m.options.Faults.Add(fault.Rule{ID: nodeRule(name), Kind: fault.Partition, Mode: "blackhole",
			Node: name}); err != nil {
			return err
		}
	} else {
		m.options.Faults.Clear(nodeRule(name), "")
	}
	m.onNode(name, state)
	return nil
}
