package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// StartPod runs a pod's process. A pod that runs already is left alone.
func (m *Machine) StartPod(name, uid, node, engine string, c Container) (Pod, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.pods[name]; p != nil && p.UID == uid {
		return *p, nil
	}
	if err := c.starts(); err != nil {
		return Pod{}, err
	}
	ip, err := m.take(name)
	if err != nil {
		return Pod{}, err
	}
	p := &Pod{Name: name, UID: uid, Node: node, DataEngine: engine, IP: ip, Metadata: c.Metadata, Image: c.Image,
		binaries: c.Mounts["/engine-binaries"]}
	if err := m.run(p); err != nil {
		m.options.Block.Give(ip)
		return Pod{}, err
	}
	m.pods[name] = p
	return *p, nil
}

// take finds an address for a pod; the lock is held.
func (m *Machine) take(pod string) (string, error) {
	if ip := m.addresses[pod]; ip != "" {
		return ip, nil
	}
	ip, err := m.options.Block.Take()
	if err == nil && m.options.StickyAddresses {
		m.addresses[pod] = ip
	}
	return ip, err
}

// run starts a process in a pod and opens its ports; the lock is held.
func (m *Machine) run(p *Pod) error {
	p.server = m.options.Plane.Start(p.Node, p.Name, p.DataEngine, p.IP, p.Metadata)
	p.server.SetBinaries(p.binaries)
	endpoint, err := m.options.Servers.Open(p.server, p.Image)
	if err != nil {
		p.server.Stop()
		return err
	}
	p.endpoint, p.Started, p.Ready = endpoint, p.server.Started(), true
	p.ContainerID = "containerd://" + strings.ReplaceAll(m.options.NewUUID()+m.options.NewUUID(), "-", "")
	return nil
}

// end stops a pod's process; the lock is held.
func (m *Machine) end(p *Pod) {
	p.Ready = false
	if p.endpoint != nil {
		p.server.Stop()
		p.endpoint.Close()
	}
	p.endpoint = nil
}

// exit ends a pod's process for good; the lock is held.
func (m *Machine) exit(p *Pod, reason string) {
	if p.Exited {
		return
	}
	m.end(p)
	p.Exited, p.ExitReason = true, reason
}

// StopPod ends a pod's process and forgets the pod.
func (m *Machine) StopPod(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pods[name]
	if p == nil {
		return
	}
	m.exit(p, "Deleted")
	delete(m.pods, name)
	if !m.options.StickyAddresses {
		m.options.Block.Give(p.IP)
	}
}

// Crash ends a pod's process; restart policy Never leaves it so.
func (m *Machine) Crash(name string) error {
	return m.onProcess(name, func(p *Pod) error {
		m.exit(p, "Error")
		return nil
	})
}

// Restart ends a pod's container and starts it again after a while, at the same address. With keep a v1 server keeps its processes.
func (m *Machine) Restart(name string, keep bool, down time.Duration) error {
	return m.onProcess(name, func(p *Pod) error {
		old := p.server
		var kept map[string]dataplane.Instance
		if keep {
			kept = old.True()
		}
		m.end(p)
		if down <= 0 {
			return m.again(p, kept)
		}
		m.options.Clock.AfterFunc(down, func() {
			err := m.onProcess(name, func(now *Pod) error {
				if now != p || p.endpoint != nil {
					return nil
				}
				return m.again(p, kept)
			})
			if err != nil {
				m.options.Log.Error("starting a container again", "pod", name, "error", err)
			}
		})
		return nil
	})
}

// again is the next run of a pod's container; the lock is held.
func (m *Machine) again(p *Pod, kept map[string]dataplane.Instance) error {
	p.Restarts++
	if err := m.run(p); err != nil {
		return err
	}
	p.server.Keep(kept)
	return nil
}

// onProcess does something to a pod that has not exited, and reports the kubelet.
func (m *Machine) onProcess(name string, do func(*Pod) error) error {
	m.mu.Lock()
	p := m.pods[name]
	if p == nil || p.Exited {
		m.mu.Unlock()
		return fmt.Errorf("running pod %s: %w", name, ErrNotFound)
	}
	err := do(p)
	m.mu.Unlock()
	m.onPod(name)
	return err
}

// Pod is a pod by name.
func (m *Machine) Pod(name string) (Pod, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.pods[name]
	if p == nil {
		return Pod{}, false
	}
	return *p, true
}

// Pods are all pods by name.
func (m *Machine) Pods() []Pod {
	m.mu.Lock()
	out := make([]Pod, 0, len(m.pods))
	for _, p := range m.pods {
		out = append(out, *p)
	}
	m.mu.Unlock()
	for i := range out {
		if out[i].server != nil {
			out[i].Watchers = out[i].server.Watchers()
		}
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Server is the running server of a node and data engine.
func (m *Machine) Server(node, engine string) (*dataplane.Server, error) {
	if s, ok := m.options.Plane.ServerOn(node, engine); ok {
		return s, nil
	}
	return nil, fmt.Errorf("running instance manager of data engine %s on node %s: %w", engine, node, ErrNotFound)
}

// Close ends every process.
func (m *Machine) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pods {
		m.end(p)
	}
}
