package realnode

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// Options are the binaries and the places of a Machine.
type Options struct {
	// InstanceManager and Engine are the paths of the two real binaries.
	InstanceManager, Engine string
	// Directory has the disks of the nodes.
	Directory string
	// TLSDirectory has ca.crt, tls.crt and tls.key for the servers; empty means plaintext.
	TLSDirectory string
	// PortOffset is added to the ports at which the instance managers are reached.
	PortOffset int
	Log        *slog.Logger
}

// node is one machine: a disk, and whether it is reached.
type node struct {
	state machine.NodeState
	// host is the directory that its pods have at /host.
	host string
}

// pod is one instance-manager pod. process is nil while nothing runs in it.
type pod struct {
	machine.Pod
	where     address
	container machine.Container
	process   *process
}

// Machine is all nodes and their pods.
type Machine struct {
	options Options
	network *network
	front   *front
	starter *starter

	mutex   sync.Mutex
	nodes   map[string]*node
	pods    map[string]*pod
	images  map[string]bool
	parted  map[string]bool // nodes whose links a fault cuts
	ledger  ledger
	writers writers
	holds   holds
	onPod   func(pod string)
	onNode  func(node string, state machine.NodeState)
}

// New prepares the network of the nodes.
func New(o Options) (*Machine, error) {
	net, err := newNetwork()
	if err != nil {
		return nil, err
	}
	m := &Machine{options: o, network: net, starter: newStarter(), nodes: map[string]*node{}, pods: map[string]*pod{},
		images: map[string]bool{}, parted: map[string]bool{}, ledger: ledger{volumes: map[string]map[int64]string{}},
		writers: writers{all: map[string]*writer{}}, holds: holds{all: map[string]*held{}, began: map[string]time.Time{}},
		onPod: func(string) {}, onNode: func(string, machine.NodeState) {}}
	m.front = newFront(o, m.podAt, m.ledger.forget, m.holds.rebuilds)
	return m, nil
}

// Observe sets the functions that are called after something happened to a pod or a node by itself.
func (m *Machine) Observe(onPod func(string), onNode func(string, machine.NodeState)) {
	m.onPod, m.onNode = onPod, onNode
}

func (m *Machine) imageNames() []string {
	var names []string
	for name := range m.images {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AddEngineImage makes an engine image known, for volumes that the control endpoint starts. Pods put its binary on nodes.
func (m *Machine) AddEngineImage(image string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.images[image] = true
	return nil
}

// Close ends every process and removes the network.
func (m *Machine) Close() error {
	for _, p := range m.live() {
		if process := m.take(p); process != nil {
			process.kill()
		}
	}
	m.front.closeAll()
	m.starter.close()
	return m.network.close()
}

// RemoveDirectory removes the directory of a v1 replica from a node, and reports whether there was one.
func (m *Machine) RemoveDirectory(node, path string) (bool, error) {
	m.mutex.Lock()
	n := m.nodes[node]
	m.mutex.Unlock()
	if n == nil {
		return false, nil
	}
	at := filepath.Join(n.host, path)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return true, os.RemoveAll(at)
}
