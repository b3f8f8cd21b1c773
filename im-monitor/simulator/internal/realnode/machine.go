package realnode

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	where   address
	process *process
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
		writers: writers{all: map[string]*writer{}}, holds: holds{ends: map[string]chan struct{}{}},
		onPod: func(string) {}, onNode: func(string, machine.NodeState) {}}
	m.front = newFront(o, m.podAt, m.ledger.forget)
	return m, nil
}

// Observe sets the functions that are called after something happened to a pod or a node by itself.
func (m *Machine) Observe(onPod func(string), onNode func(string, machine.NodeState)) {
	m.onPod, m.onNode = onPod, onNode
}

// AddNode makes a machine with an empty disk, or with the disk that a node of that name left.
func (m *Machine) AddNode(name string) error {
	m.mutex.Lock()
	_, known := m.nodes[name]
	n := &node{state: machine.Up, host: filepath.Join(m.options.Directory, name, "host")}
	if !known {
		m.nodes[name] = n
	}
	images := m.imageNames()
	m.mutex.Unlock()
	if known {
		return nil
	}
	for _, directory := range []string{"proc", "dev", "var/lib/longhorn/replicas", "var/lib/longhorn/engine-binaries"} {
		if err := os.MkdirAll(filepath.Join(n.host, directory), 0o755); err != nil {
			return fmt.Errorf("making the disk of node %s: %w", name, err)
		}
	}
	for _, image := range images {
		if err := install(n.host, image); err != nil {
			return err
		}
	}
	m.onNode(name, machine.Up)
	return nil
}

func (m *Machine) imageNames() []string {
	var names []string
	for name := range m.images {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// AddEngineImage puts the engine binary on every node in the place of an engine image.
func (m *Machine) AddEngineImage(image string) error {
	m.mutex.Lock()
	m.images[image] = true
	var hosts []string
	for _, n := range m.nodes {
		hosts = append(hosts, n.host)
	}
	m.mutex.Unlock()
	for _, host := range hosts {
		if err := install(host, image); err != nil {
			return err
		}
	}
	return nil
}

// imageDirectory is the directory of an engine image below engine-binaries.
func imageDirectory(image string) string {
	return strings.NewReplacer(":", "-", "/", "-").Replace(image)
}

// install links the place of an engine image on a node to this program, which runs the engine; see RunEngine.
func install(host, image string) error {
	directory := filepath.Join(host, "var/lib/longhorn/engine-binaries", imageDirectory(image))
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("making the directory of engine image %s: %w", image, err)
	}
	if err := os.Symlink(selfInPod, filepath.Join(directory, engineName)); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("installing engine image %s: %w", image, err)
	}
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

// StartPod runs an instance manager for a pod; a pod that runs already is left alone.
func (m *Machine) StartPod(name, uid, nodeName, engine, _, _ string) (machine.Pod, error) {
	m.mutex.Lock()
	if p := m.pods[name]; p != nil && p.UID == uid {
		defer m.mutex.Unlock()
		if p.process == nil && !p.Exited {
			return machine.Pod{}, fmt.Errorf("pod %s is being started", name)
		}
		return p.Pod, nil
	}
	if m.nodes[nodeName] == nil {
		m.mutex.Unlock()
		return machine.Pod{}, fmt.Errorf("node %s: %w", nodeName, machine.ErrNotFound)
	}
	where := m.network.take()
	p := &pod{where: where, Pod: machine.Pod{Name: name, UID: uid, Node: nodeName, DataEngine: engine, IP: where.pod()}}
	m.pods[name] = p
	m.mutex.Unlock()
	if err := m.run(p); err != nil {
		m.mutex.Lock()
		delete(m.pods, name)
		m.mutex.Unlock()
		return machine.Pod{}, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return p.Pod, nil
}

// run starts a process in a pod, and returns when it serves.
func (m *Machine) run(p *pod) error {
	m.mutex.Lock()
	host := m.nodes[p.Node].host
	m.mutex.Unlock()
	process, err := m.starter.start(setup{Name: p.Name, Where: p.where, Host: host, Root: filepath.Join(m.options.Directory, p.Node, "root"),
		InstanceManager: m.options.InstanceManager, Engine: m.options.Engine, TLS: m.options.TLSDirectory, DataEngine: p.DataEngine},
		m.network, filepath.Join(m.options.Directory, p.Name+".log"))
	if err != nil {
		return fmt.Errorf("starting the instance manager of pod %s: %w", p.Name, err)
	}
	if err := m.front.open(p.IP); err != nil {
		process.kill()
		return err
	}
	m.mutex.Lock()
	p.process, p.Started, p.Ready = process, time.Now(), true
	p.ContainerID = fmt.Sprintf("containerd://%s-%d", p.UID, process.pid())
	m.mutex.Unlock()
	go func() {
		<-process.ended
		m.processEnded(p, process)
	}()
	return nil
}

// processEnded marks a pod whose process ended by itself.
func (m *Machine) processEnded(p *pod, process *process) {
	m.mutex.Lock()
	unexpected := p.process == process
	if unexpected {
		p.process, p.Exited, p.ExitReason, p.Ready = nil, true, "Error", false
	}
	m.mutex.Unlock()
	if unexpected {
		m.front.close(p.IP)
		m.onPod(p.Name)
	}
}

// take removes the process from a pod, so that its end is expected.
func (m *Machine) take(p *pod) *process {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	process := p.process
	p.process, p.Ready = nil, false
	return process
}

// StopPod ends a pod's process as a kubelet does, and forgets the pod.
func (m *Machine) StopPod(name string) {
	m.mutex.Lock()
	p := m.pods[name]
	m.mutex.Unlock()
	if p == nil {
		return
	}
	if process := m.take(p); process != nil {
		process.stop()
	}
	m.front.close(p.IP)
	m.mutex.Lock()
	if m.pods[name] == p {
		delete(m.pods, name)
	}
	m.mutex.Unlock()
	m.network.give(p.where)
}

// running returns a pod whose process runs.
func (m *Machine) running(name string) (*pod, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if p := m.pods[name]; p != nil && p.process != nil {
		return p, nil
	}
	return nil, fmt.Errorf("running pod %s: %w", name, machine.ErrNotFound)
}

// Crash kills a pod's process; restart policy Never leaves it so.
func (m *Machine) Crash(name string) error {
	p, err := m.running(name)
	if err != nil {
		return err
	}
	p.process.kill()
	return nil
}

// Restart kills a pod's process and starts another one in the same pod.
func (m *Machine) Restart(name string) error {
	p, err := m.running(name)
	if err != nil {
		return err
	}
	if process := m.take(p); process != nil {
		process.kill()
	}
	m.front.close(p.IP)
	m.mutex.Lock()
	p.Restarts++
	m.mutex.Unlock()
	err = m.run(p)
	m.onPod(name)
	return err
}

// Pod returns a pod by name.
func (m *Machine) Pod(name string) (machine.Pod, bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if p := m.pods[name]; p != nil {
		return p.Pod, true
	}
	return machine.Pod{}, false
}

// Pods lists all pods by name.
func (m *Machine) Pods() []machine.Pod {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	out := make([]machine.Pod, 0, len(m.pods))
	for _, p := range m.pods {
		out = append(out, p.Pod)
	}
	slices.SortFunc(out, func(a, b machine.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// live lists the pods whose process runs, by name.
func (m *Machine) live() []*pod {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var out []*pod
	for _, p := range m.pods {
		if p.process != nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// on returns the running pod of a node and data engine.
func (m *Machine) on(node, engine string) (*pod, error) {
	for _, p := range m.live() {
		if p.Node == node && p.DataEngine == engine {
			return p, nil
		}
	}
	return nil, fmt.Errorf("running instance manager of data engine %s on node %s: %w", engine, node, machine.ErrNotFound)
}

// podAt returns the pod with that address; nil if there is none.
func (m *Machine) podAt(ip string) *pod {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, p := range m.pods {
		if p.IP == ip {
			return p
		}
	}
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
