package realnode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
	"drover.dev/drover/shared/managerimage/scripts"
)

// StartPod runs an instance manager as the container of a pod has it; a pod that runs already is left alone.
func (m *Machine) StartPod(name, uid, nodeName, engine string, c machine.Container) (machine.Pod, error) {
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
	p := &pod{where: where, container: c, Pod: machine.Pod{Name: name, UID: uid, Node: nodeName, DataEngine: engine, IP: where.pod()}}
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
	o, err := m.setupOf(p)
	if err != nil {
		return err
	}
	process, err := m.starter.start(o, m.network, filepath.Join(m.options.Directory, p.Name+".log"))
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

// setupOf returns how the process of a pod starts. The scripts of the image are played; what they pass on is up to the real binary.
func (m *Machine) setupOf(p *pod) (setup, error) {
	c := p.container
	if len(c.Command) > 0 {
		return setup{}, fmt.Errorf("%w: exec %s failed: the image has only its own entry point", machine.ErrEnded, c.Command[0])
	}
	start, err := scripts.Of(c.Image).Entry(c.Arguments)
	if err != nil {
		return setup{}, fmt.Errorf("%w: %w", machine.ErrEnded, err)
	}
	if start.SPDK {
		return setup{}, fmt.Errorf("%w: spdk_tgt failed: there is none here", machine.ErrEnded)
	}
	m.mutex.Lock()
	host := m.nodes[p.Node].host
	m.mutex.Unlock()
	o := setup{Name: p.Name, Where: p.where, Host: host, Root: filepath.Join(m.options.Directory, p.Node, "root"),
		InstanceManager: m.options.InstanceManager, Engine: m.options.Engine, Arguments: start.Daemon, Mounts: map[string]string{}}
	for name, value := range c.Environment {
		o.Environment = append(o.Environment, name+"="+value)
	}
	for _, name := range c.Addresses {
		o.Environment = append(o.Environment, name+"="+p.IP)
	}
	for at, path := range c.Mounts {
		o.Mounts[at] = filepath.Join(host, path)
	}
	if m.options.TLSDirectory != "" { // else no secret exists, and the mounts are optional
		for at := range c.Secrets {
			o.Mounts[at] = m.options.TLSDirectory
		}
	}
	return o, nil
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
