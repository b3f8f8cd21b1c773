package dataplane

import "drover.dev/drover/im-monitor/simulator/internal/chain"

// Backing is the content of a backing image on a node: of v1 a file, of v2 an lvol on a disk.
type Backing struct {
	Node string `json:"node"`
	// Path is the file's, as instance managers see it: /host<disk path>/backing-images/<image>-<uuid>/backing.
	Path string `json:"path,omitempty"`
	// DiskUUID and Image name the lvol.
	DiskUUID string       `json:"diskUUID,omitempty"`
	Image    string       `json:"image,omitempty"`
	Size     uint64       `json:"size"`
	Blocks   chain.Blocks `json:"blocks"`
}

func (b Backing) key() string {
	if b.Path != "" {
		return b.Path
	}
	return b.DiskUUID + "/" + b.Image
}

// PutBacking puts the content of a backing image on a node.
func (p *Plane) PutBacking(b Backing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodeOf(b.Node).backing[b.key()] = &b
}

// openDirectory lets a replica process open its data, made with the size that is requested when the node has none of that name; it
// answers why the process exits, or "". The size stays with the data, as in volume.meta.
func (s *Server) openDirectory(i *Instance, source string) string {
	a, name := arguments(i.Args), i.directory()
	if problem := s.makeDirectory(i, source); problem != "" {
		return problem
	}
	d := s.node.directories[name]
	if d == nil {
		d = s.plane.newData(s.node, i.Name, volumeOf(i.Spec))
		d.size = a.number("--size")
		s.node.directories[name] = d
	}
	if problem := s.listen(i, source); problem != "" {
		return problem
	}
	file := a.one("--backing-file")
	b := s.node.backing[file]
	switch {
	case source != SourceWire && b == nil:
		return "" // what somebody had started before
	case file == "":
		d.SetBase(nil)
		return ""
	case b == nil:
		return exited("failed to open backing file "+file+": no such file or directory", 1)
	case b.Size > a.number("--size"):
		return exited("the backing file is larger than the volume", 1)
	}
	d.SetBase(b.Blocks)
	return ""
}

// listen opens the unix socket of a replica that serves its data there. No replica removes the socket's file: the next replica of the
// volume on the node cannot listen.
func (s *Server) listen(i *Instance, source string) string {
	volume := volumeOf(i.Spec)
	switch {
	case source != SourceWire || i.takes().one("--data-server-protocol") != "unix":
		return ""
	case s.node.sockets[volume]:
		return exited("listen unix "+volume+".sock: bind: address already in use", 1)
	}
	s.node.sockets[volume] = true
	return ""
}

// SetDirectory reports which backend size the directory of a v1 replica was made with.
func (p *Plane) SetDirectory(nodeName, name string, size uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.nodeOf(nodeName).directories[name]
	if d == nil {
		return refuse(NotFound, "node %s has no replica directory %s", nodeName, name)
	}
	d.size = size
	return nil
}
