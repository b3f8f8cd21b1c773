package dataplane

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
		return s.newReplica(spec), nil
	case TypeEngine:
		return s.newEngine(spec, source), nil
	case TypeFrontend:
		return s.newFrontend(spec, source), nil
	default:
		return nil, refuse(InvalidArgument, "unknown type %q of instance %s", spec.Type, spec.Name)
	}
}

// newReplica exposes the replica's lvol, made when the node has none of that name.
func (s *Server) newReplica(spec Spec) *Instance {
	disk := s.node.diskOf(spec)
	lvol := s.node.lvols[spec.Name]
	if lvol == nil {
		if disk == nil {
			return (&Instance{Spec: spec, server: s}).fail("lvstore " + spec.DiskName + " (" + spec.DiskUUID + ") was not found")
		}
		lvol = &Lvol{Name: spec.Name, UUID: s.plane.newUUID(), DiskName: disk.Name, DiskUUID: disk.UUID, Volume: spec.Volume, Size: spec.Size,
			Created: s.plane.clock.Now(), data: s.plane.newData(s.node, spec.Name, volumeOf(spec))}
		s.node.lvols[spec.Name] = lvol
	}
	if b := s.node.backing[spec.DiskUUID+"/"+spec.BackingImage]; b != nil {
		lvol.data.SetBase(b.Blocks)
	}
	i := s.replicaOf(lvol)
	i.PortCount, i.State = spec.PortCount, Starting
	i.PortStart, i.PortEnd = s.node.takePorts(V2, max(spec.PortCount, 1))
	return i
}

// diskOf finds the disk by UUID, or by name when no UUID is asked.
func (n *node) diskOf(spec Spec) *Disk {
	for _, d := range n.disks {
		if spec.DiskUUID != "" && d.UUID == spec.DiskUUID || spec.DiskUUID == "" && d.Name == spec.DiskName {
			return d
		}
	}
	return nil
}

// newEngine is a RAID bdev over its replicas; without a usable one it fails. With a frontend it exports a target.
func (s *Server) newEngine(spec Spec, source string) *Instance {
	i := &Instance{Spec: spec, UUID: s.plane.newUUID(), State: Starting, server: s}
	if problem := s.plane.start(i, source); problem != "" {
		return i.fail(problem + " for engine " + spec.Name)
	}
	if spec.Frontend != "" || source == SourceControl {
		i.PortStart, i.PortEnd = s.node.takePorts(V2, 1)
		i.TargetPortStart, i.TargetPortEnd = i.PortStart, i.PortStart
	}
	return i
}
