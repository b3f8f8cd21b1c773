package orphancontroller_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
)

// absenceGap is how soon the scripted inventory proves an absence.
const absenceGap = 50 * time.Millisecond

// store is a scripted inventory: what the test puts in is what its lists report.
type store struct {
	mu          sync.Mutex
	instances   map[string]map[string]inventory.Instance // by instance manager; nil means unreachable
	nodes       map[string]string
	epochs      map[string]inventory.Epoch
	subscribers []func(inventory.Change)
	// absent holds what the absence rule has proven.
	absent map[string]bool
	// calls are the deletions that were executed; lists counts the fresh lists.
	calls   []imclient.DeleteRequest
	lists   int
	effects int
	// provenByHand keeps ExpectAbsence from proving anything.
	provenByHand bool
	// onDelete replaces the effect of a deletion; onFresh runs before a fresh list is taken.
	onDelete func(imclient.DeleteRequest) error
	onFresh  func()
	// slow is how many fresh lists end at their deadline although the inventory stays known.
	slow int
	// disks are what DiskGet answers; destroyed is the data that was destroyed, as disk/replica; onDestroy replaces its effect.
	disks     map[string]imclient.Disk
	destroyed []string
	onDestroy func(im, replica string) error
	clock     clock.PassiveClock
	// settledSince is when every epoch began.
	settledSince time.Time
}

func newStore(clock clock.PassiveClock) *store {
	return &store{instances: map[string]map[string]inventory.Instance{}, nodes: map[string]string{}, epochs: map[string]inventory.Epoch{},
		absent: map[string]bool{}, clock: clock, settledSince: clock.Now().Add(-time.Hour)}
}

func (s *store) manager(name, node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instances[name], s.nodes[name] = map[string]inventory.Instance{}, node
	s.epochs[name] = inventory.Epoch{PodUID: "pod", Connection: uint64(len(s.epochs) + 1)}
}

// put makes an instance, or changes it, and reports the subscribers.
func (s *store) put(im string, i inventory.Instance) {
	s.mu.Lock()
	list := maps.Clone(s.instances[im])
	list[i.Name] = i
	s.instances[im] = list
	s.mu.Unlock()
	s.say(inventory.Change{InstanceManager: im, Names: []string{i.Name}})
}

// remove takes an instance away; proven reports whether the absence rule is satisfied at once.
func (s *store) remove(im, name string, proven bool) {
	s.mu.Lock()
	list := maps.Clone(s.instances[im])
	delete(list, name)
	s.instances[im] = list
	s.absent[im+"/"+name] = proven
	s.mu.Unlock()
	s.say(inventory.Change{InstanceManager: im, Names: []string{name}})
}

func (s *store) prove(im, name string) {
	s.mu.Lock()
	_, back := s.instances[im][name]
	s.absent[im+"/"+name] = !back && s.instances[im] != nil
	s.mu.Unlock()
	s.say(inventory.Change{InstanceManager: im, Names: []string{name}})
}

func (s *store) reachable(im string, list map[string]inventory.Instance) {
	s.mu.Lock()
	s.instances[im] = list
	s.mu.Unlock()
	s.say(inventory.Change{InstanceManager: im, Whole: true})
}

func (s *store) say(c inventory.Change) {
	s.mu.Lock()
	list := slices.Clone(s.subscribers)
	s.mu.Unlock()
	for _, f := range list {
		f(c)
	}
}

func (s *store) executed() []imclient.DeleteRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// effective counts the calls that changed something.
func (s *store) effective() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effects
}

func (s *store) Set(inventory.Target) {}
func (s *store) Remove(string)        {}

func (s *store) Target(im string) (inventory.Target, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node, ok := s.nodes[im]
	return inventory.Target{InstanceManager: im, Node: node, DataEngine: "v2"}, ok
}

func (s *store) Latest(im string) (*inventory.Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot(im)
}

func (s *store) snapshot(im string) (*inventory.Snapshot, bool) {
	list := s.instances[im]
	if list == nil {
		return nil, false
	}
	now := s.clock.Now()
	return &inventory.Snapshot{Target: inventory.Target{InstanceManager: im, Node: s.nodes[im]}, Epoch: s.epochs[im],
		EpochSince: s.settledSince,
		Began:      now, Ended: now, Settled: true, Instances: inventory.InstancesOf(list)}, true
}

func (s *store) Heard(string) bool { return true }

func (s *store) Err(string) error { return nil }

func (s *store) Fresh(_ context.Context, im string) (*inventory.Snapshot, error) {
	s.mu.Lock()
	hook, late := s.onFresh, s.slow > 0
	s.lists++
	s.slow--
	s.mu.Unlock()
	if late {
		return nil, fmt.Errorf("reading %s: %w", im, imclient.ErrUnreachable)
	}
	if hook != nil {
		hook()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if snapshot, ok := s.snapshot(im); ok {
		return snapshot, nil
	}
	return nil, fmt.Errorf("reading %s: %w", im, imclient.ErrUnreachable)
}

func (s *store) AskDisk(_ context.Context, _ string, query imclient.DiskQuery) (imclient.Disk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if disk, ok := s.disks[query.Name]; ok {
		return disk, nil
	}
	return imclient.Disk{}, imclient.ErrDiskNotFound
}

// DiskReplicas are those that the list shows on the disk.
func (s *store) DiskReplicas(_ context.Context, im string, disk imclient.DiskRef) (map[string]imclient.DiskReplica, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]imclient.DiskReplica{}
	for name, i := range s.instances[im] {
		if i.DiskUUID == disk.UUID {
			out[name] = imclient.DiskReplica{Name: name, DiskUUID: i.DiskUUID}
		}
	}
	return out, nil
}

// DeleteReplicaData destroys by name alone, as servers do.
func (s *store) DeleteReplicaData(_ context.Context, im string, disk imclient.DiskRef, replica string) error {
	s.mu.Lock()
	s.destroyed = append(s.destroyed, disk.Name+"/"+replica)
	_, there := s.instances[im][replica]
	if there {
		s.effects++
	}
	hook := s.onDestroy
	s.mu.Unlock()
	if hook != nil {
		return hook(im, replica)
	}
	s.remove(im, replica, false)
	return nil
}

func (s *store) destructions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.destroyed)
}

func (s *store) Unloaded(string, string) []string { return nil }

func (s *store) Absent(subject inventory.Subject) bool {
	im, name, uuid := subject.InstanceManager, subject.Name, subject.UUID
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.instances[im][name]
	return s.instances[im] != nil && ((ok && i.UUID != "" && i.UUID != uuid) || (!ok && s.absent[im+"/"+name]))
}

func (s *store) AbsentAfter(call inventory.Call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.instances[call.InstanceManager][call.Name]
	return s.instances[call.InstanceManager] != nil && !ok && call.Epoch == s.epochs[call.InstanceManager]
}

// ExpectAbsence proves the absence soon, as two lists would, unless the test does so itself.
func (s *store) ExpectAbsence(subject inventory.Subject) time.Time {
	im, name := subject.InstanceManager, subject.Name
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.provenByHand {
		time.AfterFunc(absenceGap, func() { s.prove(im, name) })
	}
	return s.clock.Now().Add(absenceGap)
}

func (s *store) QuietFrom(string) time.Time { return time.Time{} }

func (s *store) Lost() []*inventory.Snapshot { return nil }

func (s *store) Holders(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for im, list := range s.instances {
		if _, ok := list[name]; ok {
			out = append(out, im)
		}
	}
	slices.Sort(out)
	return out
}

func (s *store) OfNode(node string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for im, n := range s.nodes {
		if n == node {
			out = append(out, im)
		}
	}
	slices.Sort(out)
	return out
}

func (s *store) Subscribe(f func(inventory.Change)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, f)
}

func (s *store) Client(im string) (imclient.Client, inventory.Epoch, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &connection{store: s, im: im}, s.epochs[im], s.instances[im] != nil
}

// connection executes deletions in the scripted inventory.
type connection struct {
	store *store
	im    string
}

func (c *connection) Version(context.Context) (imclient.Version, error) {
	return imclient.Version{}, nil
}
func (c *connection) Watch(context.Context) (imclient.Watch, error) {
	return nil, imclient.ErrUnsupported
}
func (c *connection) Close() error { return nil }

func (c *connection) Create(context.Context, imclient.CreateRequest) error {
	return imclient.ErrUnsupported
}

func (c *connection) Suspend(context.Context, string) error { return imclient.ErrUnsupported }

func (c *connection) Resume(context.Context, string) error { return imclient.ErrUnsupported }

func (c *connection) SetANAState(context.Context, string, string) error {
	return imclient.ErrUnsupported
}

func (c *connection) SetLogs(context.Context, imclient.Logs) error { return nil }

func (c *connection) SwitchOver(context.Context, imclient.SwitchOverRequest) error {
	return imclient.ErrUnsupported
}

func (c *connection) List(context.Context, imclient.Cause, imclient.Known) (map[string]imclient.Instance, error) {
	snapshot, ok := c.store.Latest(c.im)
	if !ok {
		return nil, imclient.ErrUnreachable
	}
	return maps.Collect(snapshot.Instances.All()), nil
}

// Delete does what a conforming server does: it compares the UUID, keeps the data of a v2 replica unless requested to
// destroy it, and removes everything else.
func (c *connection) Delete(_ context.Context, request imclient.DeleteRequest) error {
	c.store.mu.Lock()
	hook := c.store.onDelete
	c.store.calls = append(c.store.calls, request)
	i, ok := c.store.instances[c.im][request.Name]
	c.store.mu.Unlock()
	if hook != nil {
		return hook(request)
	}
	if !ok || i.UUID != request.UUID {
		return &imclient.CallError{Kind: imclient.ErrNotFound, Err: imclient.ErrNotFound}
	}
	c.store.mu.Lock()
	c.store.effects++
	c.store.mu.Unlock()
	if request.DataEngine == "v2" && request.Type == "replica" && !request.CleanupRequired {
		i.State = "stopped"
		c.store.put(c.im, i)
		return nil
	}
	c.store.remove(c.im, request.Name, false)
	return nil
}
