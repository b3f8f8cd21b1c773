package dataplane

import "slices"

// MetadataPath is the host path that instance-manager pods mount at /metadata: the host's records of v2 frontends.
const MetadataPath = "/var/lib/longhorn/metadata"

// records are those that a server reads and writes: the ones behind /metadata on the host, or, without that mount, its container's own,
// which end with the container. There is one for each volume, whatever its frontend is called.
func (n *node) recordsAt(metadata string) map[string]*Instance {
	if metadata == "" {
		return map[string]*Instance{}
	}
	if n.records[metadata] == nil {
		n.records[metadata] = map[string]*Instance{}
	}
	return n.records[metadata]
}

// keepRecord saves what a frontend connects to: at its creation, and when another target becomes the active one. No other change is saved.
func (s *Server) keepRecord(i *Instance) {
	if i.Frontend == FrontendUblk {
		return
	}
	volume := volumeOf(i.Spec)
	if old := s.records[volume]; old != nil && old.Name == i.Name && old.ActivePath == i.ActivePath {
		return
	}
	record := i.copy()
	s.records[volume] = &record
}

// dropRecord forgets a frontend.
func (s *Server) dropRecord(i *Instance) {
	if record := s.records[volumeOf(i.Spec)]; record != nil && record.Name == i.Name {
		delete(s.records, volumeOf(i.Spec))
	}
}

// recoverFrontends brings the frontends on record back. What lacks a target or a device is forgotten.
func (s *Server) recoverFrontends() {
	for volume, record := range s.records {
		switch {
		case record.Endpoint == "" || record.ActivePath == "":
			delete(s.records, volume)
		case s.instances[record.Name] == nil:
			s.recoverFrontend(record)
		}
	}
}

// recoverFrontend dials the target on record: pending until that answers, then running. Where it does not, there is no other try: the entry
// is in error for a moment, the connection of the node's kernel ends, and the record goes.
func (s *Server) recoverFrontend(record *Instance) {
	i := record.copy()
	i.State, i.ErrorMsg, i.server, i.recovering = Pending, "", s, true
	s.instances[i.Name] = &i
	s.plane.after(s.plane.behaviour.StartTime, func() {
		if !s.alive || s.instances[i.Name] != &i || i.State != Pending {
			return
		}
		i.recovering = false
		if s.connects(i.ActivePath) {
			i.State = Running
			s.connected(&i)
			s.changed()
			return
		}
		i.fail("cannot connect to the target at " + i.ActivePath)
		s.dropRecord(&i)
		s.disconnect(&i, "its server could not reach the target on record")
		s.changed()
		s.plane.after(s.plane.behaviour.Linger, func() {
			if s.alive && s.instances[i.Name] == &i {
				delete(s.instances, i.Name)
				s.changed()
			}
		})
	})
}

// connected has the node's kernel hold the connection of a frontend that came back: the one that it had all the time, or, after a reboot, a
// new one.
func (s *Server) connected(i *Instance) {
	if held := s.node.frontends[i.Name]; held != nil && len(held.Paths) > 0 {
		held.State, i.links = Running, slices.Clone(held.links)
		return
	}
	i.links = []link{{engine: i.EngineName, address: i.ActivePath}}
	held := i.copy()
	s.node.frontends[i.Name] = &held
	s.plane.epoch++
	s.plane.openDevice(i, s.plane.epoch)
}

// disconnect ends the connection that a node's kernel has for a frontend. No one asked for its end: a workload loses its device.
func (s *Server) disconnect(i *Instance, why string) {
	delete(s.node.frontends, i.Name)
	if !s.plane.closeDevice(i) {
		return
	}
	s.plane.record(Entry{Source: SourcePlane, Node: s.node.name, Pod: s.pod, Method: "Disconnect", Name: i.Name, Type: TypeFrontend,
		DataEngine: V2,
		Volume:     volumeOf(i.Spec), Result: "OK", Effect: EffectDeviceLost, Message: why})
}

// frontendOf is the entry of a volume's frontend, whatever its name: a server has one for each volume. Nil where there is none.
func (s *Server) frontendOf(spec Spec) *Instance {
	if i := s.instances[spec.Name]; i != nil {
		return i
	}
	for _, i := range s.instances {
		if i.Type == TypeFrontend && volumeOf(i.Spec) != "" && volumeOf(i.Spec) == volumeOf(spec) {
			return i
		}
	}
	return nil
}

// admitFrontend makes room for a new frontend of a volume: one that is pending since its server came back gives way, anything else stays.
func (s *Server) admitFrontend(spec Spec) error {
	if spec.Type != TypeFrontend || s.engine != V2 {
		return nil
	}
	existing := s.frontendOf(spec)
	switch {
	case existing == nil:
	case existing.Type != TypeFrontend:
		return nil
	case existing.recovering:
		delete(s.instances, existing.Name)
		s.dropRecord(existing)
	default:
		return refuse(AlreadyExists, "engine frontend %s already exists for volume %s", existing.Name, volumeOf(spec))
	}
	for name, held := range s.node.frontends {
		if volumeOf(held.Spec) == volumeOf(spec) {
			was := held.copy()
			was.server, was.Name = s, name
			s.disconnect(&was, "a frontend of the volume was created again")
		}
	}
	return nil
}
