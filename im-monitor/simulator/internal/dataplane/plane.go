package dataplane

import (
	"fmt"
	"path"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Clock is what the plane knows of time; every clock.WithDelayedExecution is one.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) clock.Timer
}

// Plane is the data plane of a whole cluster. All methods may be called at once from anywhere; one lock makes each of them atomic.
type Plane struct {
	mu        sync.Mutex
	clock     Clock
	newUUID   func() string
	behaviour Behaviour
	nodes     map[string]*node
	servers   map[string]*Server          // by pod
	hosts     map[string]*Server          // by IP
	listeners map[string]*Instance        // by the address that they listen on, perhaps no more
	mapped    map[string]map[*member]bool // engines' replicas by address
	volumes   map[string]*volume
	copyTimes map[string]time.Duration // by volume
	binaries  map[string]bool          // engine binaries by node and host directory; nil: each is there
	epoch     uint64                   // counts engines and frontends
	doubtful  map[string]bool          // frontends (node/name) whose I/O may go to two engines, reported once
	writers   []*writing
	serial    uint64
	journal   []Entry
	grown     chan struct{} // closed and replaced when the journal grows
	onRecord  func(Entry)
}

// node is what outlives a server.
type node struct {
	name        string
	directories map[string]*data                // v1 replica data, by directory, or by replica name when none was reported
	sockets     map[string]bool                 // files of the unix sockets of v1 replicas, by volume
	backing     map[string]*Backing             // content of backing images: of v1 by path, of v2 by disk UUID and image
	frontends   map[string]*Instance            // what the kernel holds of v2 frontends, by name: it outlives servers, but no reboot
	records     map[string]map[string]*Instance // those of v2 frontends by host path and volume
	devices     map[string]*hardware            // by path
	numbers     int                             // of devices that were put in
	ports       map[string]*ports               // by data engine
	servers     map[string]*Server              // by pod
	cut         bool                            // nothing passes to or from other nodes
}

// New makes an empty plane.
func New(c Clock, newUUID func() string, b Behaviour) *Plane {
	if b.Mode == "" {
		b.Mode = Conforming
	}
	if b.MismatchCode == "" {
		b.MismatchCode = FailedPrecondition
	}
	if b.ListCycle <= 0 {
		b.ListCycle = 3 * time.Second
	}
	if b.PathLoss == 0 {
		b.PathLoss = 30 * time.Second
	}
	return &Plane{clock: c, newUUID: newUUID, behaviour: b, nodes: map[string]*node{}, servers: map[string]*Server{},
		hosts: map[string]*Server{}, listeners: map[string]*Instance{}, mapped: map[string]map[*member]bool{},
		volumes:   map[string]*volume{},
		copyTimes: map[string]time.Duration{}, doubtful: map[string]bool{}, grown: make(chan struct{})}
}

// nodeOf finds a node or makes it; the lock is held.
func (p *Plane) nodeOf(name string) *node {
	n := p.nodes[name]
	if n == nil {
		n = &node{name: name, directories: map[string]*data{}, sockets: map[string]bool{}, backing: map[string]*Backing{},
			frontends: map[string]*Instance{}, records: map[string]map[string]*Instance{},
			devices: map[string]*hardware{}, ports: newPorts(), servers: map[string]*Server{}}
		p.nodes[name] = n
	}
	return n
}

// LvolsOf are the v2 replicas' data on a node, by replica name.
func (p *Plane) LvolsOf(nodeName string) map[string]Lvol {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]Lvol{}
	if n := p.nodes[nodeName]; n != nil {
		for _, h := range n.devices {
			if h.lvstore == nil {
				continue
			}
			for name, l := range h.lvstore.lvols {
				out[name] = l.copy()
			}
		}
	}
	return out
}

// DirectoriesOf names the data directories of v1 replicas on a node, or the replica where no directory was reported.
func (p *Plane) DirectoriesOf(nodeName string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	if n := p.nodes[nodeName]; n != nil {
		for name := range n.directories {
			out = append(out, name)
		}
	}
	return out
}

// RemoveDirectory removes the data directory of a v1 replica from a node, and reports whether there was one. While a process serves it, it
// fails. A path of the host is one below /host to the processes.
func (p *Plane) RemoveDirectory(nodeName, at string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.nodes[nodeName]
	if n == nil {
		return false, nil
	}
	for key := range n.directories {
		if path.Clean(key) != path.Join("/host", at) {
			continue
		}
		for _, s := range n.servers {
			for _, i := range s.instances {
				if i.Type == TypeReplica && i.directory() == key {
					return true, refuse(FailedPrecondition, "replica %s serves directory %s of node %s", i.Name, at, nodeName)
				}
			}
		}
		delete(n.directories, key)
		return true, nil
	}
	return false, nil
}

// after runs f later under the lock; with no delay it runs at once. The lock is held by the caller.
func (p *Plane) after(d time.Duration, f func()) {
	if d <= 0 {
		f()
		return
	}
	p.clock.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		f()
	})
}

func address(ip string, port int32) string { return fmt.Sprintf("%s:%d", ip, port) }
