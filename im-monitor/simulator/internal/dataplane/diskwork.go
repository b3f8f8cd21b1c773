package dataplane

// workOnDisks begins with the next disk that waits; the lock is held. What is written is written halfway: a server that ends before has
// written nothing, one that ends after it has not answered.
func (s *Server) workOnDisks() {
	if s.working != nil || len(s.queue) == 0 || !s.alive {
		return
	}
	d := s.queue[0]
	s.working, s.queue = d, s.queue[1:]
	half := s.plane.behaviour.DiskCreateTime / 2
	s.plane.after(half, func() {
		if !s.alive {
			return
		}
		problem := s.take(d)
		s.plane.after(half, func() {
			if !s.alive {
				return
			}
			if d.state = DiskReady; problem != "" {
				d.state, d.message = DiskError, problem
			}
			s.working = nil
			close(d.done)
			if s.blocked != nil {
				close(s.blocked)
				s.blocked = nil
			}
			s.workOnDisks()
		})
	})
}

// take does what is behind DiskCreate, and answers why it failed.
func (s *Server) take(d *disk) (problem string) {
	h := s.node.devices[d.path]
	if h == nil || h.absent {
		return "no such device: " + d.path
	}
	driver, problem := h.driver(d.path, d.driver)
	if problem != "" {
		return problem
	}
	if driver == DriverAIO {
		if problem := s.checkBeforeAIO(h); problem != "" {
			return problem
		}
	}
	d.driver, d.bdev = driver, bdevName(d.name, driver)
	h.bound = driver != DriverAIO
	d.on = h
	return s.openLvstore(d, h)
}

// driver finds the exact one. A device that a server took from its kernel driver does not report any more what it is.
func (h *hardware) driver(path, asked string) (driver, problem string) {
	switch {
	case !isPCI(path) && (asked == DriverAuto || asked == DriverAIO):
		return DriverAIO, ""
	case !isPCI(path):
		return "", "driver " + asked + " does not fit the path " + path
	case asked == DriverAuto && h.bound:
		return "", "the kernel driver vfio-pci of " + path + " is not supported"
	case asked == DriverAuto && (h.kind == KindNVMe || h.kind == KindVirtioBlk || h.kind == KindVirtioSCSI), asked == h.kind:
		return h.kind, ""
	default:
		return "", "driver " + asked + " does not fit the device " + path
	}
}

// checkBeforeAIO is what a server checks of a block device. What is none passes all but the last.
func (s *Server) checkBeforeAIO(h *hardware) string {
	if h.kind != KindFile && h.total <= 0 {
		return "device " + h.path + " has no size"
	}
	if h.kind != KindFile && h.filesystem != "" {
		return "device " + h.path + " holds " + h.filesystem
	}
	for _, other := range s.disks {
		if other.on == h {
			return "device " + h.path + " is the one of disk " + other.name
		}
	}
	return ""
}

func bdevName(disk, driver string) string {
	switch driver {
	case KindNVMe:
		return disk + "n1"
	case KindVirtioSCSI:
		return disk + "t0"
	default:
		return disk
	}
}

// openLvstore finds the lvstore that was asked for. Without a UUID it takes whatever there is, and makes one where there is none: then
// everything else on the device is lost.
func (s *Server) openLvstore(d *disk, h *hardware) (problem string) {
	switch {
	case d.uuid != "" && h.uuid() != d.uuid:
		return "cannot find lvstore with UUID " + d.uuid
	case d.uuid != "":
	case h.lvstore == nil:
		lost := h.filesystem
		h.filesystem, h.bytes = "", ""
		h.lvstore = &lvstore{name: d.bdev, uuid: s.plane.newUUID(), lvols: map[string]*Lvol{}}
		s.plane.record(Entry{Source: SourcePlane, Node: s.node.name, Pod: s.pod, Method: "Format", Name: d.name, Type: "disk",
			DataEngine: V2,
			UUIDFound:  h.lvstore.uuid, Result: "OK", Effect: EffectCreated, DataDestroyed: lost != "", Message: "device " + h.path +
				", lost: " + lost})
	default:
		h.lvstore.name = d.bdev
		for _, l := range h.lvstore.lvols {
			l.DiskName = d.bdev
		}
		s.plane.record(Entry{Source: SourcePlane, Node: s.node.name, Pod: s.pod, Method: "Adopt", Name: d.name, Type: "disk",
			DataEngine: V2,
			UUIDFound:  h.lvstore.uuid, Result: "OK", Effect: EffectChanged, Message: "device " + h.path})
	}
	return ""
}

// Busy is closed when the calls of a server are executed again; nil while they are. A disk that is being created holds them up from the
// first tick of the server's monitor on, or from a second creation of the same name.
func (s *Server) Busy() <-chan struct{} {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	return s.blocked
}

// DiskBusy is closed when the work on a disk has ended; nil while no one works on it. With again somebody asks to create it once more,
// and holds up the whole server.
func (s *Server) DiskBusy(name string, again bool) <-chan struct{} {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if s.working == nil || s.working.name != name {
		return nil
	}
	if again {
		s.block()
	}
	return s.working.done
}

// block holds up every call until the work on the present disk has ended; the lock is held.
func (s *Server) block() {
	if s.blocked == nil {
		s.blocked = make(chan struct{})
	}
}

// tick is one cycle of the server's monitor: it begins a pass over the loaded lvstores, or, while a disk is being created, waits for that
// with the server's lock in its hand.
func (s *Server) tick() {
	if !s.alive {
		return
	}
	if s.working != nil {
		s.block()
	} else {
		s.beginPass()
	}
	s.plane.after(s.plane.behaviour.ListCycle, s.tick)
}

// beginPass reads what the loaded lvstores hold. It takes half a cycle, and is dropped when a replica was created or deleted
// meanwhile. Watchers get no notice.
func (s *Server) beginPass() {
	found, changes := map[string]*Lvol{}, s.changes
	for _, d := range s.loaded() {
		for name, l := range d.on.lvstore.lvols {
			if found[name] == nil {
				found[name] = l
			}
		}
	}
	s.plane.after(s.plane.behaviour.ListCycle/2, func() {
		if s.alive && s.changes == changes && s.working == nil {
			s.endPass(found)
		}
	})
}

func (s *Server) endPass(found map[string]*Lvol) {
	for name, l := range found {
		if s.instances[name] == nil {
			s.instances[name] = s.replicaOf(l)
		}
	}
	for name, i := range s.instances {
		if i.Type == TypeReplica && i.stored && !i.ending && found[name] == nil {
			delete(s.instances, name)
			s.plane.ceased(i)
		}
	}
}
