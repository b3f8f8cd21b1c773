package dataplane

import "net"

// SetCut cuts a node off from all others, or joins it again. Its instances run on. A v1 engine notices with its next I/O, and lists its
// replicas as before until then; of v2 the connections end by themselves.
func (p *Plane) SetCut(nodeName string, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodeOf(nodeName)
	if n.cut == cut {
		return
	}
	n.cut = cut
	for _, s := range n.servers {
		if s.engine == V1 {
			continue
		}
		for _, i := range s.instances {
			if i.run != nil {
				i.run.recheckAll()
			}
			p.recheck(i)
		}
	}
	p.relinkAll()
}

// Reboot forgets what a node's kernel held: the connections of v2 frontends, and with them their devices. Their records stay.
func (p *Plane) Reboot(nodeName string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodeOf(nodeName)
	for _, h := range n.devices {
		h.bound = false
	}
	for name, held := range n.frontends {
		p.closeDevice(held)
		delete(n.frontends, name)
	}
}

// reaches reports whether anything passes between two nodes.
func reaches(a, b *node) bool { return a == b || !a.cut && !b.cut }

// bind makes an instance known at its address; the lock is held.
func (p *Plane) bind(i *Instance) {
	if i.PortStart != 0 && i.Type != TypeFrontend {
		p.listeners[address(i.server.ip, i.PortStart)] = i
	}
	if i.Type == TypeEngine && i.server.engine == V2 {
		p.relink(p.volume(volumeOf(i.Spec)))
	}
}

// unbind makes an address free; false when the instance did not hold it.
func (p *Plane) unbind(i *Instance, where string) bool {
	held := p.listeners[where] == i
	if held {
		delete(p.listeners, where)
	}
	return held
}

// live reports whether an instance is there and runs.
func (i *Instance) live() bool {
	return i != nil && i.server != nil && i.server.alive && i.server.instances[i.Name] == i && !i.ending &&
		(i.State == Running || i.State == Starting)
}

// listening finds the running instance of a type that listens on ip:port; the lock is held.
func (p *Plane) listening(where, typ string) *Instance {
	i := p.listeners[where]
	if i == nil || i.Type != typ || !i.live() {
		return nil
	}
	if _, _, err := net.SplitHostPort(where); err != nil || address(i.server.ip, i.PortStart) != where {
		return nil
	}
	return i
}

// replicaAt finds the running replica that listens on ip:port; the lock is held.
func (p *Plane) replicaAt(where string) *Instance { return p.listening(where, TypeReplica) }

// dataOf is what a replica's instance serves.
func (i *Instance) dataOf() *data {
	if i == nil || i.Type != TypeReplica || i.server == nil {
		return nil
	}
	if i.server.engine == V1 {
		return i.server.node.directories[i.directory()]
	}
	if l := i.server.lvolOf(i); l != nil {
		return l.data
	}
	return nil
}

// directory is the key of a v1 replica's data.
func (i *Instance) directory() string {
	if d := arguments(i.Args).directory(); d != "" {
		return d
	}
	return i.Name
}
