package dataplane

import (
	"time"
)

// Server is one run of an instance manager's process in a pod.
type Server struct {
	plane   *Plane
	node    *node
	pod     string
	engine  string
	ip      string
	started time.Time
	// binaries is the directory of the host that its pod has at /engine-binaries; empty is none.
	binaries string

	// alive is false once the process is gone.
	alive     bool
	instances map[string]*Instance
	// disks are those that were created in this run. working is the one that is being created, queue those that wait for it; changes counts
	// the replicas that were created and deleted, blocked is there while every call waits.
	disks   map[string]*disk
	working *disk
	queue   []*disk
	changes int
	blocked chan struct{}
	// making are the names that creations and deletions under way hold; unlisted is how many of these hold up lists, for which listing is
	// there.
	making   map[string]bool
	unlisted int
	listing  chan struct{}

	records  map[string]*Instance // of v2 frontends by volume: the host's, or the container's own
	watchers map[*Watcher]bool
	done     chan struct{}
}

// Start runs a server in a pod. One that already runs there ends first. metadata is the host path behind its mount /metadata; empty where
// it has none.
func (p *Plane) Start(nodeName, pod, engine, ip, metadata string) *Server {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.servers[pod]; old != nil {
		old.end()
	}
	s := &Server{plane: p, node: p.nodeOf(nodeName), pod: pod, engine: engine, ip: ip, started: p.clock.Now(), alive: true,
		instances: map[string]*Instance{}, disks: map[string]*disk{}, watchers: map[*Watcher]bool{}, done: make(chan struct{}),
		making: map[string]bool{}}
	s.records = s.node.recordsAt(metadata)
	p.servers[pod], s.node.servers[pod], p.hosts[ip] = s, s, s
	p.record(Entry{Source: SourceControl, Node: nodeName, Pod: pod, Method: "Start", DataEngine: engine, Result: "OK",
		Effect: EffectServerStart})
	if engine == V2 {
		s.recoverFrontends()
		p.after(p.behaviour.ListCycle, s.tick)
	}
	return s
}

// replicaOf is an lvol as a stopped replica.
func (s *Server) replicaOf(l *Lvol) *Instance {
	return &Instance{State: Stopped, UUID: l.UUID, server: s, stored: true,
		Spec: Spec{Name: l.Name, Type: TypeReplica, DataEngine: V2, Volume: l.Volume,
			DiskName: l.DiskName, DiskUUID: l.DiskUUID, Size: l.Size}}
}

// Stop ends the server: processes and RAID bdevs die, watchers end. Stopping again does nothing.
func (s *Server) Stop() {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	s.end()
}

func (s *Server) end() {
	if !s.alive {
		return
	}
	instances := s.instances
	s.alive, s.instances = false, map[string]*Instance{}
	for _, i := range instances {
		s.plane.ceased(i)
	}
	s.watchers = nil
	close(s.done)
	if s.plane.servers[s.pod] == s {
		delete(s.plane.servers, s.pod)
		delete(s.node.servers, s.pod)
	}
	if s.plane.hosts[s.ip] == s {
		delete(s.plane.hosts, s.ip)
	}
	s.plane.record(Entry{Source: SourceControl, Node: s.node.name, Pod: s.pod, Method: "Stop", DataEngine: s.engine, Result: "OK",
		Effect: EffectServerEnd})
}

// Keep gives a v1 server the processes of an earlier run, which a real one never has: a fault for those who take a new epoch for an empty
// one.
func (s *Server) Keep(instances map[string]Instance) {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	if s.engine != V1 {
		return
	}
	for name, i := range instances {
		kept := i.copy()
		kept.server, kept.run = s, nil
		s.instances[name] = &kept
		s.plane.bind(&kept)
	}
	for _, i := range s.instances {
		if i.Type == TypeEngine && i.State == Running {
			s.plane.start(i, SourceControl)
		}
	}
}

// Pod is the name of the pod that the server runs in.
func (s *Server) Pod() string { return s.pod }

// Node is the name of the server's node.
func (s *Server) Node() string { return s.node.name }

// DataEngine is v1 or v2.
func (s *Server) DataEngine() string { return s.engine }

// IP is the pod's address.
func (s *Server) IP() string { return s.ip }

// Started is when this run began.
func (s *Server) Started() time.Time { return s.started }

// Done is closed when the run has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Watcher counts the notices of one watch stream.
type Watcher struct {
	server  *Server
	pending int
	more    chan struct{}
}

// Watchers is how many watch streams the server knows. A stream that a client has just opened may not have arrived yet.
func (s *Server) Watchers() int {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	return len(s.watchers)
}

// Watch begins to count notices; there is none at the start.
func (s *Server) Watch() *Watcher {
	s.plane.mu.Lock()
	defer s.plane.mu.Unlock()
	w := &Watcher{server: s, more: make(chan struct{}, 1)}
	if s.alive {
		s.watchers[w] = true
	}
	return w
}

// More is readable when Take may have notices; Done is closed when the server is gone.
func (w *Watcher) More() <-chan struct{} { return w.more }

// Done is closed when the server is gone.
func (w *Watcher) Done() <-chan struct{} { return w.server.done }

// Take returns how many notices came since the last call.
func (w *Watcher) Take() int {
	w.server.plane.mu.Lock()
	defer w.server.plane.mu.Unlock()
	n := w.pending
	w.pending = 0
	return n
}

// Close ends the watch.
func (w *Watcher) Close() {
	w.server.plane.mu.Lock()
	defer w.server.plane.mu.Unlock()
	delete(w.server.watchers, w)
}

// changed notifies every watcher that something changed; the lock is held.
func (s *Server) changed() {
	for w := range s.watchers {
		w.pending++
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}
