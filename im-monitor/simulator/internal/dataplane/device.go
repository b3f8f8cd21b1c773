package dataplane

// device is what a workload writes to: a v1 engine's frontend, or a v2 frontend. A v2 block device lives in the node's kernel, which
// outlives the server.
type device struct {
	node   *node
	name   string
	volume *volume
	epoch  uint64
	engine *Instance // of v1
}

// openDevice makes a frontend writable; the lock is held.
func (p *Plane) openDevice(i *Instance, epoch uint64) {
	v := p.volume(volumeOf(i.Spec))
	if v == nil {
		return
	}
	d := &device{node: i.server.node, name: i.Name, volume: v, epoch: epoch}
	if i.Type == TypeEngine {
		d.engine = i
	}
	v.devices[d] = true
	if p.behaviour.Writers && !p.hasWriter(v.name) {
		p.startWriter(Writer{Volume: v.name})
	}
}

// closeDevice ends a frontend and reports whether it had a device; the lock is held.
func (p *Plane) closeDevice(i *Instance) (closed bool) {
	v := p.volume(volumeOf(i.Spec))
	if v == nil || i.server == nil {
		return false
	}
	for d := range v.devices {
		if d.name == i.Name && d.node == i.server.node {
			delete(v.devices, d)
			closed = true
		}
	}
	return closed
}

// frontend is a v2 device's instance: what the kernel holds, or what runs without it (ublk).
func (d *device) frontend() *Instance {
	if held := d.node.frontends[d.name]; held != nil {
		return held
	}
	for _, s := range d.node.servers {
		if i := s.instances[d.name]; i != nil && i.Type == TypeFrontend {
			return i
		}
	}
	return nil
}

// target is the engine that a device's I/O goes to now; an error reports why it waits, or fails.
func (p *Plane) target(d *device) (*engineRun, error) {
	if d.engine != nil {
		if !d.engine.live() || d.engine.run == nil || d.engine.State != Running {
			return nil, refuse(Unavailable, "engine %s does not run yet", d.name)
		}
		return d.engine.run, nil
	}
	f := d.frontend()
	switch {
	case f == nil:
		return nil, refuse(NotFound, "frontend %s is gone", d.name)
	case f.State != Running:
		return nil, refuse(Unavailable, "frontend %s is %s", d.name, f.State)
	}
	if ways := p.ways(f, d.node); len(ways) > 0 {
		return ways[0].run, nil
	}
	return nil, refuse(Unavailable, "no path of frontend %s leads to an engine", d.name)
}

// deviceOn finds a volume's device: on a node, or (node empty) the one that was opened last.
func (v *volume) deviceOn(nodeName string) *device {
	var found *device
	for d := range v.devices {
		if (nodeName == "" || d.node.name == nodeName) && (found == nil || d.epoch > found.epoch) {
			found = d
		}
	}
	return found
}
