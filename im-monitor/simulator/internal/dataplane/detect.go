package dataplane

// recheck has every engine that maps a replica check whether it still answers; the lock is held.
func (p *Plane) recheck(replica *Instance) {
	if replica.Type != TypeReplica || replica.server == nil || replica.PortStart == 0 {
		return
	}
	for m := range p.mapped[address(replica.server.ip, replica.PortStart)] {
		m.poll()
	}
}

// recheckAll checks every replica of an engine.
func (r *engineRun) recheckAll() {
	for _, m := range r.sorted() {
		m.poll()
	}
}

// poll gives a replica that does not answer up, after the time that an engine waits.
func (m *member) poll() {
	if m.mode == ModeERR || m.checking || m.reachable() {
		return
	}
	m.checking = true
	m.run.plane.after(m.run.plane.behaviour.ReplicaTimeout, func() {
		m.checking = false
		if m.run.open && m.run.members[m.name] == m && m.mode != ModeERR && !m.reachable() {
			m.fail("the replica does not answer")
		}
	})
}

// fail puts a replica into mode ERR. A v2 engine without a usable one fails, too; a v1 process runs on and answers every I/O with an error.
func (m *member) fail(why string) {
	r := m.run
	m.mode = ModeERR
	m.interrupt(why)
	r.afterLoss()
}

// afterLoss fails a v2 engine that has no usable replica left, and notifies v2 watchers.
func (r *engineRun) afterLoss() {
	if r.engine.server.engine != V2 || !r.open {
		return
	}
	if !r.usable() {
		r.engine.fail("all replicas of engine " + r.engine.Name + " failed")
		r.plane.ceased(r.engine)
	}
	r.engine.server.changed()
}

// ceased is called when an instance runs no more: its address is free, engines miss a replica, an engine's work is over. The lock is held.
func (p *Plane) ceased(i *Instance) {
	if i.server == nil {
		return
	}
	if i.run != nil {
		i.run.close()
	}
	if i.Type == TypeFrontend && i.server.node.frontends[i.Name] == nil {
		p.closeDevice(i)
	}
	where := address(i.server.ip, i.PortStart)
	if p.unbind(i, where) {
		i.server.node.ports[i.server.engine].give(i.PortStart, i.PortEnd)
	}
	if i.Type == TypeReplica {
		for m := range p.mapped[where] {
			m.poll()
		}
	}
	if i.Type == TypeEngine && i.server.engine == V2 {
		p.relink(p.volume(volumeOf(i.Spec)))
	}
}

// close ends an engine's hold on its replicas. Rebuilds that continue are left unfinished.
func (r *engineRun) close() {
	if !r.open {
		return
	}
	r.open = false
	for _, m := range r.members {
		delete(r.plane.mapped[m.address], m)
		if len(r.plane.mapped[m.address]) == 0 {
			delete(r.plane.mapped, m.address)
		}
		m.interrupt("the engine ended")
	}
	r.jobs.interrupt("the engine ended")
	if r.volume != nil {
		delete(r.volume.engines, r)
		r.plane.closeDevice(r.engine)
	}
}
