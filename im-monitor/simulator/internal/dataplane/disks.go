package dataplane

import (
	"maps"
	"slices"
	"strings"
)

// States of a disk in a server's map.
const (
	DiskCreating = "creating"
	DiskReady    = "ready"
	DiskError    = "error"
)

// Drivers of v2 disks.
const (
	DriverAuto = "auto"
	DriverAIO  = "aio"
	DriverNVMe = "nvme"
)

// disk is an entry of a server's map of disks, which is in memory and empty at each start.
type disk struct {
	name, path, uuid string
	driver           string // an exact one, once it was found
	state, message   string
	bdev             string
	on               *hardware
	done             chan struct{} // closed when the work on it has ended
}

// DiskRequest is what a call reports about a disk.
type DiskRequest struct{ Name, Path, UUID, Driver string }

// DiskInfo is what a server reports of a disk: of one that is not ready, the state only.
type DiskInfo struct {
	ID, UUID, Name, Path, Driver, State string
	Total, Free                         int64
}

// ServerDisk is an entry of a server's map, with what the server reports to no caller.
type ServerDisk struct {
	Node    string `json:"node"`
	Pod     string `json:"pod"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	State   string `json:"state"`
	UUID    string `json:"uuid,omitempty"`
	Message string `json:"message,omitempty"`
}

// DiskCreate takes a new name in and works behind its answer, one disk at a time. A name that is known is reported only: there is no new
// try.
func (s *Server) DiskCreate(r DiskRequest) (DiskInfo, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if err := s.admitDisk(r); err != nil {
		return DiskInfo{}, err
	}
	if r.Path == "" {
		return DiskInfo{}, refuse(InvalidArgument, "disk %s needs a path", r.Name)
	}
	if known := s.disks[r.Name]; known != nil {
		s.noteDisk("DiskCreate", r, known, EffectNone)
		return known.reported()
	}
	d := &disk{name: r.Name, path: r.Path, uuid: r.UUID, driver: r.Driver, state: DiskCreating, done: make(chan struct{})}
	s.disks[r.Name] = d
	s.noteDisk("DiskCreate", r, d, EffectCreated)
	s.queue = append(s.queue, d)
	s.workOnDisks()
	return DiskInfo{State: DiskCreating}, nil
}

// DiskGet reports of a disk.
func (s *Server) DiskGet(r DiskRequest) (DiskInfo, error) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if err := s.admitDisk(r); err != nil {
		return DiskInfo{}, err
	}
	d := s.disks[r.Name]
	switch {
	case r.Driver == DriverAuto:
		return DiskInfo{}, refuse(Internal, "rpc error: code = Internal desc = unsupported disk driver auto")
	case d == nil:
		return DiskInfo{}, refuse(Internal, "rpc error: code = NotFound desc = cannot find disk %s", r.Name)
	}
	return d.reported()
}

// DiskDelete takes a disk out of the map. The data stays; the replicas on it vanish, running ones, too.
func (s *Server) DiskDelete(r DiskRequest) error {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if err := s.admitDisk(r); err != nil {
		return err
	}
	d := s.disks[r.Name]
	switch {
	case r.Driver == DriverAuto:
		return refuse(Internal, "rpc error: code = Internal desc = unsupported disk driver auto")
	case d == nil:
		return nil
	case d.on == nil && d.driver == DriverAuto && r.Driver != DriverAIO && r.Driver != DriverNVMe:
		return refuse(Internal, "rpc error: code = Internal desc = the driver of disk %s is not known", r.Name)
	}
	delete(s.disks, r.Name)
	s.queue = slices.DeleteFunc(s.queue, func(waiting *disk) bool { return waiting == d })
	if d.on != nil {
		d.on.bound = false
		for name, i := range s.instances {
			if i.Type == TypeReplica && d.state == DiskReady && i.DiskUUID == d.on.uuid() {
				delete(s.instances, name)
				s.plane.ceased(i)
			}
		}
	}
	s.noteDisk("DiskDelete", r, d, EffectStopped)
	return nil
}

// DiskReplicaDelete destroys a replica's data by its name alone. The list shows the replica until the next pass.
func (s *Server) DiskReplicaDelete(r DiskRequest, replica string) error {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if err := s.admitDisk(r); err != nil {
		return err
	}
	entry := Entry{Source: SourceWire, Node: s.node.name, Pod: s.pod, Method: "DiskReplicaInstanceDelete", Name: replica, Type: TypeReplica,
		DataEngine: V2,
		DiskUUID:   r.UUID, Cleanup: true, Result: "OK", Effect: EffectNone}
	if l := s.lvol(replica, ""); l != nil {
		entry.UUIDFound, entry.Effect = l.UUID, EffectDestroyed
		s.changes++
		entry.DataDestroyed = s.destroyLvol(l)
	}
	s.plane.record(entry)
	return nil
}

func (s *Server) admitDisk(r DiskRequest) error {
	switch {
	case !s.alive:
		return refuse(Unavailable, "the instance manager is gone")
	case s.engine != V2:
		return refuse(Unimplemented, "disks are not implemented for data engine v1")
	case r.Name == "":
		return refuse(InvalidArgument, "a disk needs a name")
	}
	return nil
}

func (s *Server) noteDisk(method string, r DiskRequest, d *disk, effect string) {
	s.plane.record(Entry{Source: SourceWire, Node: s.node.name, Pod: s.pod, Method: method, Name: r.Name, Type: "disk", DataEngine: V2,
		UUIDAsked: r.UUID,
		UUIDFound: d.on.uuidOrNone(), StateBefore: d.state, Result: "OK", Effect: effect, Message: "path " + r.Path + ", driver " +
			r.Driver})
}

func (h *hardware) uuidOrNone() string {
	if h == nil {
		return ""
	}
	return h.uuid()
}

// reported is what a call answers of a disk.
func (d *disk) reported() (DiskInfo, error) {
	if d.state != DiskReady {
		return DiskInfo{State: d.state}, nil
	}
	if d.on.absent {
		return DiskInfo{}, refuse(Internal, "rpc error: code = Internal desc = no disk bdev found with name %q", d.bdev)
	}
	out := DiskInfo{ID: d.path, UUID: d.on.lvstore.uuid, Name: d.on.lvstore.name, Path: d.path, Driver: d.driver, State: DiskReady,
		Total: d.on.total,
		Free:  d.on.total}
	if d.driver == DriverAIO {
		out.ID = d.on.number
	}
	for _, l := range d.on.lvstore.lvols {
		out.Free -= int64(l.Size)
	}
	out.Free = max(out.Free, 0)
	return out, nil
}

// ServerDisks are the maps of all servers of a node, or of all nodes.
func (p *Plane) ServerDisks(nodeName string) []ServerDisk {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []ServerDisk{}
	for _, pod := range slices.Sorted(maps.Keys(p.servers)) {
		s := p.servers[pod]
		if nodeName != "" && s.node.name != nodeName {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.disks)) {
			d := s.disks[name]
			out = append(out, ServerDisk{Node: s.node.name, Pod: pod, Name: name, Path: d.path, State: d.state, UUID: d.on.uuidOrNone(),
				Message: d.message})
		}
	}
	return out
}

// loaded are the disks whose lvstores the server sees, by name.
func (s *Server) loaded() []*disk {
	var out []*disk
	for _, name := range slices.Sorted(maps.Keys(s.disks)) {
		if d := s.disks[name]; d.state == DiskReady && !d.on.absent {
			out = append(out, d)
		}
	}
	return out
}

// lvol finds a replica's data on the loaded disks; with a UUID only on that disk.
func (s *Server) lvol(name, diskUUID string) *Lvol {
	for _, d := range s.loaded() {
		if l := d.on.lvstore.lvols[name]; l != nil && (diskUUID == "" || d.on.lvstore.uuid == diskUUID) {
			return l
		}
	}
	return nil
}

// lvolOf is the data of a replica's instance.
func (s *Server) lvolOf(i *Instance) *Lvol { return s.lvol(i.Name, i.DiskUUID) }

// destroyLvol ends a v2 replica's data.
func (s *Server) destroyLvol(l *Lvol) bool {
	for _, d := range s.loaded() {
		if d.on.lvstore.lvols[l.Name] == l {
			l.data.lost()
			delete(d.on.lvstore.lvols, l.Name)
			return true
		}
	}
	return false
}

// isPCI reports a PCI address from a path.
func isPCI(path string) bool { return !strings.HasPrefix(path, "/") && strings.Count(path, ":") == 2 }
