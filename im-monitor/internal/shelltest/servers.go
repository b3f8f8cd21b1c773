package shelltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
)

// errDown is what a server answers that was shut.
var errDown = &imclient.CallError{Method: "Any", Address: "scripted", Kind: imclient.ErrUnreachable, Err: errors.New("shut by the test")}

// Servers are scripted instance managers. Each is there as soon as something connects to its name.
type Servers struct {
	mu        sync.Mutex
	instances map[string]map[string]inventory.Instance
	shut      map[string]bool
	slow      map[string]*slowness
	open      map[*connection]struct{}
	disks     map[string]imclient.Disk
	loaded    map[string]string // states of disks by server and name
	calls     []Call
	// logged has the requests about logs to each server, in order; deaf servers refuse them.
	logged map[string][]imclient.Logs
	deaf   map[string]bool
	hook   Hook
	today  bool
	next   int
	// paths are the states of the paths to engines, by name; what is not in it is optimized. linked are the engines that frontends are
	// connected to.
	paths  map[string]string
	linked map[string]map[string]bool
	harm   []string
}

func newServers() *Servers {
	return &Servers{instances: map[string]map[string]inventory.Instance{}, shut: map[string]bool{}, slow: map[string]*slowness{},
		open: map[*connection]struct{}{}, logged: map[string][]imclient.Logs{}, deaf: map[string]bool{},
		disks: map[string]imclient.Disk{}, loaded: map[string]string{}, paths: map[string]string{}, linked: map[string]map[string]bool{}}
}

// Put makes an instance of an instance manager appear or change.
func (s *Servers) Put(manager string, i inventory.Instance) {
	s.change(manager, func(all map[string]inventory.Instance) { all[i.Name] = i })
}

// PutUnnoticed is Put without a notice: only a list shows it.
func (s *Servers) PutUnnoticed(manager string, i inventory.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alter(manager, func(all map[string]inventory.Instance) { all[i.Name] = i })
}

// Drop makes an instance disappear.
func (s *Servers) Drop(manager, name string) {
	s.change(manager, func(all map[string]inventory.Instance) { delete(all, name) })
}

// Shut makes a server unreachable, or reachable again.
func (s *Servers) Shut(manager string, shut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shut[manager] = shut
	for c := range s.open {
		if c.manager == manager && shut {
			c.end()
		}
	}
}

// slowness holds new connections: asked is closed when the first one comes, over when they are answered.
type slowness struct {
	asked, over chan struct{}
	once        sync.Once
}

// Slow makes a server leave new connections without an answer until answer is called; asked is closed when the first one comes.
func (s *Servers) Slow(manager string) (asked <-chan struct{}, answer func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slow := &slowness{asked: make(chan struct{}), over: make(chan struct{})}
	s.slow[manager] = slow
	return slow.asked, sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.slow, manager)
		close(slow.over)
	})
}

// PutDisk gives every node a device with an lvstore. A server knows it once it was created there.
func (s *Servers) PutDisk(d imclient.Disk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disks[d.Name] = d
}

// DropDisk makes every server answer that it has no such disk, as after a start in which no one loaded it.
func (s *Servers) DropDisk(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.disks, name)
}

// Disk answers as a server that keeps its disks in memory.
func (s *Servers) Disk(_ context.Context, address string, query imclient.DiskQuery) (imclient.Disk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.disks[query.Name]
	switch state := s.loaded[address+"/"+query.Name]; {
	case state == "" || !there:
		return imclient.Disk{}, fmt.Errorf("%w: cannot find disk %s", imclient.ErrDiskNotFound, query.Name)
	case state == imclient.DiskReady:
		d := s.disks[query.Name]
		d.State, d.Path = state, query.Path
		return d, nil
	default:
		return imclient.Disk{State: state}, nil
	}
}

// CreateDisk loads a device's lvstore: any without a UUID, else that one only.
func (s *Servers) CreateDisk(_ context.Context, address string, ref imclient.DiskRef) (imclient.Disk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, d := address+"/"+ref.Name, s.disks[ref.Name]
	if s.loaded[key] == "" {
		s.loaded[key] = imclient.DiskError
		if d.UUID != "" && (ref.UUID == "" || ref.UUID == d.UUID) {
			s.loaded[key] = imclient.DiskReady
		}
	}
	return imclient.Disk{State: imclient.DiskCreating}, nil
}

// DeleteDisk forgets a disk.
func (s *Servers) DeleteDisk(_ context.Context, address string, ref imclient.DiskRef) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.loaded, address+"/"+ref.Name)
	return nil
}

// DiskReplicas lists nothing: the devices of these servers are empty when they are loaded first.
func (s *Servers) DiskReplicas(context.Context, string, imclient.DiskRef) (map[string]imclient.DiskReplica, error) {
	return nil, nil
}

func (s *Servers) change(manager string, f func(map[string]inventory.Instance)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alter(manager, f)
	for c := range s.open {
		if c.manager == manager {
			select {
			case c.notice <- struct{}{}:
			default:
			}
		}
	}
}

// alter changes what a server holds. The lock is held.
func (s *Servers) alter(manager string, f func(map[string]inventory.Instance)) {
	if s.instances[manager] == nil {
		s.instances[manager] = map[string]inventory.Instance{}
	}
	f(s.instances[manager])
}

func (s *Servers) connect(target inventory.Target) (imclient.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &connection{servers: s, manager: target.InstanceManager, notice: make(chan struct{}, 1), closed: make(chan struct{})}
	s.open[c] = struct{}{}
	return c, nil
}

type connection struct {
	servers *Servers
	manager string
	notice  chan struct{}
	closed  chan struct{}
	once    sync.Once
}

func (c *connection) end() { c.once.Do(func() { close(c.closed) }) }

// Close ends the connection.
func (c *connection) Close() error {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	delete(c.servers.open, c)
	c.end()
	return nil
}

func (c *connection) down() bool {
	select {
	case <-c.closed:
		return true
	default:
		return c.servers.shut[c.manager]
	}
}

// Version answers as a server of API version 7.
func (c *connection) Version(ctx context.Context) (imclient.Version, error) {
	c.servers.mu.Lock()
	if slow := c.servers.slow[c.manager]; slow != nil {
		c.servers.mu.Unlock()
		slow.once.Do(func() { close(slow.asked) })
		select {
		case <-slow.over:
		case <-ctx.Done():
			return imclient.Version{}, ctx.Err()
		}
		c.servers.mu.Lock()
	}
	defer c.servers.mu.Unlock()
	if c.down() {
		return imclient.Version{}, errDown
	}
	return imclient.Version{Version: "scripted", APIVersion: 7, APIMinVersion: 1, ProxyAPIVersion: 7, ProxyAPIMinVersion: 1}, nil
}

// Watch opens the stream of notices.
func (c *connection) Watch(ctx context.Context) (imclient.Watch, error) { return &watch{c, ctx}, nil }

type watch struct {
	connection *connection
	ctx        context.Context
}

// Next waits for a change.
func (w *watch) Next() error {
	select {
	case <-w.connection.notice:
		return nil
	case <-w.connection.closed:
		return errDown
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// List answers with everything.
func (c *connection) List(context.Context, imclient.Cause, imclient.Known) (map[string]imclient.Instance, error) {
	c.servers.mu.Lock()
	defer c.servers.mu.Unlock()
	if c.down() {
		return nil, errDown
	}
	return maps.Clone(c.servers.instances[c.manager]), nil
}
