package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

var (
	errNotStarted = errors.New("the inventory is not started")
	errNotSet     = errors.New("no such instance manager is known")
	errReplaced   = errors.New("the instance manager was replaced or removed")
)

// Inventory implements Store.
type Inventory struct {
	config      Config
	index       index
	connections atomic.Uint64
	serial      atomic.Uint64
	subscribers []func(Change)

	mu      sync.RWMutex
	members map[string]*member
	nodes   map[string][]string // instance managers by node, sorted
	// addresses are the v2 members by their address.
	addresses map[string]*member
	// heard are the instance managers of which a first attempt ended, also those that were removed: some bytes for each there ever was.
	heard map[string]bool
	// started is when this process began to lead.
	started time.Time
	run     context.Context // nil while it does not run
	running sync.WaitGroup
}

var _ Store = (*Inventory)(nil)

// New makes an inventory; it opens no connection before Start.
func New(config Config) *Inventory {
	return &Inventory{
		config:  config.withDefaults(),
		index:   index{names: map[string]holders{}},
		members: map[string]*member{},
		nodes:   map[string][]string{}, addresses: map[string]*member{}, heard: map[string]bool{},
	}
}

// Start connects to every target, those to come included, until the context ends; it returns when every connection is closed. It is a
// Runnable of a controller-runtime manager and runs once.
func (i *Inventory) Start(ctx context.Context) error {
	i.mu.Lock()
	i.run, i.started = ctx, i.config.Clock.Now()
	for _, m := range i.members {
		i.launch(m)
	}
	i.mu.Unlock()
	<-ctx.Done()
	i.mu.Lock()
	i.run = nil // no loop is launched any more
	i.mu.Unlock()
	i.running.Wait()
	return nil
}

// NeedLeaderElection keeps processes that do not lead from polling the instance managers.
func (i *Inventory) NeedLeaderElection() bool { return true }

// launch starts a member's loop, if the inventory runs. The lock is held.
func (i *Inventory) launch(m *member) {
	ctx := i.run
	if ctx == nil {
		return
	}
	m.mu.Lock()
	m.settling.gap, m.settling.settle, m.settling.quiet = i.config.AbsenceGap, i.config.Settle, i.config.Quiet
	m.settling.calls = i.earlierCalls(m.target)
	v2 := m.target.DataEngine == v1beta2.DataEngineV2
	m.mu.Unlock()
	i.running.Go(func() { m.loop(ctx) })
	if v2 {
		i.running.Go(func() { m.probe(ctx) })
	}
}

// earlierCalls are the assumed calls at a new server: the previous leader may have sent some, unless the server is
// younger. A start in the future is by a node's clock that is ahead, and does not make it so.
func (i *Inventory) earlierCalls(target Target) calls {
	if target.ContainerStarted.After(i.started) && !target.ContainerStarted.After(i.config.Clock.Now()) {
		return calls{}
	}
	return calls{possible: i.started.Add(i.config.CallPatience)}
}

// joinAddress and leaveAddress keep the v2 members by their address.
func (i *Inventory) joinAddress(target Target, m *member) {
	if target.DataEngine == v1beta2.DataEngineV2 {
		i.addresses[target.Address] = m
	}
}

func (i *Inventory) leaveAddress(target Target, m *member) {
	if i.addresses[target.Address] == m {
		delete(i.addresses, target.Address)
	}
}

// Set implements Store.
func (i *Inventory) Set(target Target) {
	defer i.replaced(target.InstanceManager)()
	target.ContainerStarted = target.ContainerStarted.UTC() // the same instant is the same epoch, however it was read
	i.mu.Lock()
	defer i.mu.Unlock()
	name := target.InstanceManager
	m, ok := i.members[name]
	if ok {
		former := m.retarget(target)
		if former.Node != target.Node {
			i.leaveNode(former.Node, name)
			i.joinNode(target.Node, name)
		}
		i.leaveAddress(former, m)
		i.joinAddress(target, m)
		return
	}
	m = newMember(i, target)
	i.members[name] = m
	i.joinAddress(target, m)
	i.joinNode(target.Node, name)
	i.launch(m)
}

// Remove implements Store.
func (i *Inventory) Remove(instanceManager string) {
	defer i.replaced(instanceManager)()
	i.mu.Lock()
	defer i.mu.Unlock()
	m, ok := i.members[instanceManager]
	if !ok {
		return
	}
	delete(i.members, instanceManager)
	former := m.remove()
	i.leaveNode(former.Node, instanceManager)
	i.leaveAddress(former, m)
}

// replaced returns a function that notifies subscribers if what the instance manager had when it was lost does not count any more: between
// sessions nothing else does.
func (i *Inventory) replaced(instanceManager string) func() {
	before := i.lostBy(instanceManager)
	return func() {
		if before != nil && i.lostBy(instanceManager) == nil {
			i.emit(Change{InstanceManager: instanceManager, Node: before.Node, Whole: true})
		}
	}
}

func (i *Inventory) lostBy(instanceManager string) *Snapshot {
	m, ok := i.member(instanceManager)
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost()
}

// joinNode and leaveNode keep the instance managers of a node sorted. Slices that were handed out are never modified.
func (i *Inventory) joinNode(node, instanceManager string) {
	names := append(slices.Clone(i.nodes[node]), instanceManager)
	slices.Sort(names)
	i.nodes[node] = names
}

func (i *Inventory) leaveNode(node, instanceManager string) {
	names := slices.DeleteFunc(slices.Clone(i.nodes[node]), func(s string) bool { return s == instanceManager })
	if len(names) == 0 {
		delete(i.nodes, node)
		return
	}
	i.nodes[node] = names
}

// member finds an instance manager.
func (i *Inventory) member(instanceManager string) (*member, bool) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	m, ok := i.members[instanceManager]
	return m, ok
}

// Target implements Store.
func (i *Inventory) Target(instanceManager string) (Target, bool) {
	m, ok := i.member(instanceManager)
	if !ok {
		return Target{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.target, true
}

// Latest implements Store.
func (i *Inventory) Latest(instanceManager string) (*Snapshot, bool) {
	m, ok := i.member(instanceManager)
	if !ok {
		return nil, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest, m.latest != nil
}

// Err implements Store.
func (i *Inventory) Err(instanceManager string) error {
	m, ok := i.member(instanceManager)
	if !ok {
		return errNotSet
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Heard implements Store.
func (i *Inventory) Heard(instanceManager string) bool {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.heard[instanceManager]
}

// hear notes that an attempt ended, and reports whether it was the first one.
func (i *Inventory) hear(instanceManager string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	first := !i.heard[instanceManager]
	i.heard[instanceManager] = true
	return first
}

// Fresh implements Store.
func (i *Inventory) Fresh(ctx context.Context, instanceManager string) (*Snapshot, error) {
	m, ok := i.member(instanceManager)
	if !ok {
		return nil, unreachable(instanceManager, errNotSet)
	}
	answer, err := m.join()
	if err != nil {
		return nil, unreachable(instanceManager, err)
	}
	select {
	case result := <-answer:
		if result.err != nil {
			return nil, unreachable(instanceManager, result.err)
		}
		return result.snapshot, nil
	case <-ctx.Done():
		return nil, unreachable(instanceManager, ctx.Err())
	}
}

// unreachable wraps whatever kept a fresh list from being read.
func unreachable(instanceManager string, err error) error {
	if errors.Is(err, ErrUnreachable) {
		return fmt.Errorf("reading a fresh list of %s: %w", instanceManager, err)
	}
	return fmt.Errorf("reading a fresh list of %s: %w: %w", instanceManager, ErrUnreachable, err)
}

// Absent implements Store.
func (i *Inventory) Absent(subject Subject) bool {
	m, ok := i.member(subject.InstanceManager)
	return ok && m.absent(subject)
}

// AbsentAfter implements Store.
func (i *Inventory) AbsentAfter(call Call) bool {
	m, ok := i.member(call.InstanceManager)
	return ok && m.absentAfter(call)
}

// ExpectAbsence implements Store.
func (i *Inventory) ExpectAbsence(subject Subject) time.Time {
	m, ok := i.member(subject.InstanceManager)
	if !ok {
		return time.Time{}
	}
	return m.expect(subject)
}

// Holders implements Store.
func (i *Inventory) Holders(name string) []string { return i.index.of(name) }

// Lost implements Store.
func (i *Inventory) Lost() []*Snapshot {
	i.mu.RLock()
	members := slices.Collect(maps.Values(i.members))
	i.mu.RUnlock()
	var out []*Snapshot
	for _, m := range members {
		m.mu.Lock()
		if list := m.lost(); list != nil {
			out = append(out, list)
		}
		m.mu.Unlock()
	}
	return out
}

// OfNode implements Store.
func (i *Inventory) OfNode(node string) []string {
	i.mu.RLock()
	defer i.mu.RUnlock()
	return i.nodes[node]
}

// Subscribe implements Store.
func (i *Inventory) Subscribe(f func(Change)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.subscribers = append(i.subscribers, f)
}

// emit notifies every subscriber; no lock is held.
func (i *Inventory) emit(change Change) {
	for _, f := range i.subscribers {
		f(change)
	}
}

// emitShared notifies subscribers of the names among those of one instance manager that others list as well: whether an instance is listed
// twice is something that either list decides.
func (i *Inventory) emitShared(instanceManager string, names []string) {
	for other, shared := range i.index.shared(instanceManager, names) {
		if target, ok := i.Target(other); ok {
			i.emit(Change{InstanceManager: other, Node: target.Node, Names: shared})
		}
	}
}

// Client implements Store.
func (i *Inventory) Client(instanceManager string) (imclient.Client, Epoch, bool) {
	m, ok := i.member(instanceManager)
	if !ok {
		return nil, Epoch{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest == nil {
		return nil, Epoch{}, false
	}
	return m.client, m.latest.Epoch, true
}
