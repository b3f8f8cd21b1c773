package realnode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// AddNode makes a machine with an empty disk, or with the disk that a node of that name left.
func (m *Machine) AddNode(name string) error {
	m.mutex.Lock()
	_, known := m.nodes[name]
	n := &node{state: machine.Up, host: filepath.Join(m.options.Directory, name, "host")}
	if !known {
		m.nodes[name] = n
	}
	m.mutex.Unlock()
	if known {
		return nil
	}
	for _, directory := range []string{"proc", "dev", "var/lib/longhorn/replicas", "var/lib/longhorn/engine-binaries"} {
		if err := os.MkdirAll(filepath.Join(n.host, directory), 0o755); err != nil {
			return fmt.Errorf("making the disk of node %s: %w", name, err)
		}
	}
	m.onNode(name, machine.Up)
	return nil
}

// RemoveNode ends everything on a node and forgets it; its disk stays.
func (m *Machine) RemoveNode(name string) error {
	if err := m.SetNode(name, machine.Dead); err != nil {
		return err
	}
	m.mutex.Lock()
	delete(m.nodes, name)
	m.mutex.Unlock()
	return nil
}

// Nodes lists all nodes by name.
func (m *Machine) Nodes() []machine.NodeInfo {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	out := make([]machine.NodeInfo, 0, len(m.nodes))
	for name, n := range m.nodes {
		out = append(out, machine.NodeInfo{Name: name, State: n.state})
	}
	slices.SortFunc(out, func(a, b machine.NodeInfo) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// NodeState returns a node's state; false if there is no such node.
func (m *Machine) NodeState(name string) (machine.NodeState, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if n := m.nodes[name]; n != nil {
		return n.state, true
	}
	return "", false
}

// SetNode cuts the links of a node, switches it off, or brings it back.
func (m *Machine) SetNode(name string, state machine.NodeState) error {
	m.mutex.Lock()
	n := m.nodes[name]
	if n == nil {
		m.mutex.Unlock()
		return fmt.Errorf("node %s: %w", name, machine.ErrNotFound)
	}
	if state == machine.Cut && n.state == machine.Dead {
		m.mutex.Unlock()
		return fmt.Errorf("node %s is dead: bring it back first", name)
	}
	n.state = state
	var ended []*process
	var links []address
	for _, p := range m.pods {
		if p.Node != name {
			continue
		}
		if p.process != nil { // a link ends with the process
			links = append(links, p.where)
		}
		if state == machine.Dead && !p.Exited {
			p.Exited, p.ExitReason, p.Ready = true, "NodeShutdown", false
			if p.process != nil {
				ended = append(ended, p.process)
				p.process = nil
			}
		}
	}
	m.mutex.Unlock()
	for _, process := range ended {
		process.kill()
	}
	for _, where := range links {
		if err := m.network.setLink(where, state != machine.Cut); err != nil && state != machine.Dead {
			return err
		}
	}
	m.onNode(name, state)
	return nil
}
