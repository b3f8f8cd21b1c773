package dataplane

import "net"

// newSPDK makes a v2 instance.
func (s *Server) newSPDK(spec Spec, source string) (*Instance, error) {
	if spec.PortCount <= 0 && source == SourceWire {
		return nil, refuse(InvalidArgument, "instance %s needs a port count of at least 1", spec.Name)
	}
	switch spec.Type {
	case TypeReplica:
		if spec.BackingImage != "" && s.node.backing[spec.DiskUUID+"/"+spec.BackingImage] == nil {
			return nil, refuse(Unknown, "failed to find the backing image %s on disk %s", spec.BackingImage, spec.DiskUUID)
		}
		return s.newReplica(spec)
	case TypeEngine:
		if unknown := s.unknownReplica(spec); unknown != "" && source == SourceWire {
			return &Instance{Spec: spec, UUID: s.plane.newUUID(), State: Pending, server: s}, refuse(Unknown,
				"failed to validate replica size during engine target creation: failed to get backend %s: replica %s not found", unknown, unknown)
		}
		return s.newEngine(spec, source), nil
	case TypeFrontend:
		return s.newFrontend(spec, source), nil
	default:
		return nil, refuse(InvalidArgument, "unknown type %q of instance %s", spec.Type, spec.Name)
	}
}

// newReplica exposes the replica's lvol, made when the disk has none of that name. The disk must be loaded, and both its name and its UUID
// be those that are asked for.
func (s *Server) newReplica(spec Spec) (*Instance, error) {
	on, known := s.diskFor(spec)
	switch {
	case !known:
		return nil, refuse(Unknown, "failed to check lvstore %s(%s) existence for replica %s creation", spec.DiskName, spec.DiskUUID,
			spec.Name)
	case on == nil:
		return (&Instance{Spec: spec, server: s}).fail("lvstore " + spec.DiskName + "(" + spec.DiskUUID + ") is another one"), nil
	}
	lvol := on.lvols[spec.Name]
	if lvol == nil {
		lvol = &Lvol{Name: spec.Name, UUID: s.plane.newUUID(), DiskName: on.name, DiskUUID: on.uuid, Volume: spec.Volume, Size: spec.Size,
			Created: s.plane.clock.Now(), data: s.plane.newData(s.node, spec.Name, volumeOf(spec))}
		on.lvols[spec.Name] = lvol
	}
	if b := s.node.backing[spec.DiskUUID+"/"+spec.BackingImage]; b != nil {
		lvol.data.SetBase(b.Blocks)
	}
	i := s.replicaOf(lvol)
	i.PortCount, i.State = spec.PortCount, Starting
	i.PortStart, i.PortEnd = s.node.takePorts(V2, max(spec.PortCount, 1))
	s.changes++
	return i, nil
}

// diskFor finds the loaded lvstore of that name and UUID; known is false where there is none of either.
func (s *Server) diskFor(spec Spec) (found *lvstore, known bool) {
	for _, d := range s.loaded() {
		l := d.on.lvstore
		if l.name == spec.DiskName && l.uuid == spec.DiskUUID {
			return l, true
		}
		known = known || l.name == spec.DiskName || l.uuid == spec.DiskUUID
	}
	return nil, known
}

// unknownReplica returns the name of a replica of a new engine that the server at its address does not know; empty: it knows all, or does
// not answer.
func (s *Server) unknownReplica(spec Spec) string {
	for name, where := range spec.Replicas {
		host, _, err := net.SplitHostPort(where)
		at := s.plane.hosts[host]
		if err == nil && at != nil && at.alive && reaches(s.node, at.node) && at.instances[name] == nil {
			return name
		}
	}
	return ""
}

// newEngine is a RAID bdev over its replicas; without a usable one it fails. With a frontend it exports a target.
func (s *Server) newEngine(spec Spec, source string) *Instance {
	i := &Instance{Spec: spec, UUID: s.plane.newUUID(), State: Starting, server: s}
	if problem := s.plane.start(i, source); problem != "" {
		return i.fail(problem + " for engine " + spec.Name)
	}
	if spec.Frontend != "" || source == SourceControl {
		i.PortStart, i.PortEnd = s.node.takePorts(V2, 1)
	}
	return i
}
