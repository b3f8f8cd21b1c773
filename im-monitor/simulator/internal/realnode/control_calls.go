package realnode

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/simulator/internal/control"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

func (m *Machine) readJournal(r *http.Request) (any, error) {
	return control.ReadJournal(r, m.front.journal.after)
}

// addFault sets a fault of calls, or cuts the link of a node.
func (m *Machine) addFault(r *http.Request) (any, error) {
	in, err := control.Read[fault.Rule](r)
	if err != nil {
		return nil, err
	}
	if in.Kind != fault.Partition {
		id, err := m.front.add(in)
		return control.AddedFault{ID: id}, err
	}
	if in.Node == "" || in.Method != "" || in.DataEngine != "" || in.Pod != "" {
		return nil, fmt.Errorf("%w: a partition of anything but a node", control.ErrNotServed)
	}
	return control.AddedFault{ID: nodeRule(in.Node)}, m.partition(in.Node, in.Mode != "blackhole")
}

// nodeRule is the ID of the fault that cuts the link of a node.
func nodeRule(node string) string { return "node-" + node }

// partition cuts the links of a node's pods; with part their connections also end.
func (m *Machine) partition(node string, part bool) error {
	var pods []*pod
	for _, p := range m.live() {
		if p.Node == node {
			pods = append(pods, p)
		}
	}
	m.mutex.Lock()
	m.parted[node] = true
	m.mutex.Unlock()
	for _, p := range pods {
		if err := m.network.setLink(p.where, false); err != nil {
			return err
		}
	}
	if part {
		m.front.part(pods)
	}
	return nil
}

// heal mends the links that partition cut; of one node, or of all where the name is empty.
func (m *Machine) heal(node string) (int, error) {
	m.mutex.Lock()
	var nodes []string
	for name := range m.parted {
		if node == "" || node == name {
			nodes = append(nodes, name)
			delete(m.parted, name)
		}
	}
	m.mutex.Unlock()
	for _, p := range m.live() {
		if !slices.Contains(nodes, p.Node) {
			continue
		}
		if err := m.network.setLink(p.where, true); err != nil {
			return 0, err
		}
		if err := m.front.join([]*pod{p}); err != nil {
			return 0, err
		}
	}
	return len(nodes), nil
}

func (m *Machine) clearFaults(r *http.Request) (any, error) {
	id := r.URL.Query().Get("id")
	count := m.front.clear(id)
	if node, found := strings.CutPrefix(id, nodeRule("")); found {
		// The link of a node is mended; its kubelet stays as it is.
		for _, p := range m.live() {
			if p.Node == node {
				if err := m.network.setLink(p.where, true); err != nil {
					return nil, err
				}
			}
		}
	}
	if id != "" && !strings.HasPrefix(id, nodeRule("")) {
		return control.Cleared{Count: count}, nil
	}
	healed, err := m.heal(strings.TrimPrefix(id, nodeRule("")))
	return control.Cleared{Count: count + healed}, err
}
