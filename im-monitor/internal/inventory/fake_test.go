package inventory

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// errGone is what a scripted server answers while it is down.
var errGone = &imclient.CallError{Method: "Any", Address: "fake", Kind: imclient.ErrUnreachable, Err: errors.New("down")}

// server is a scripted instance manager: what it holds, and how it misbehaves. Every field is set under the lock.
type server struct {
	mu        sync.Mutex
	instances map[string]Instance
	down      bool
	listError error
	latency   time.Duration // of a list; the answer is what was there when it began
	late      bool          // lists are answered even to those who have given up
	gate      chan struct{} // when set, lists wait for it
	causes    []imclient.Cause
	clients   []*fakeClient
	answers   []answer // every list that was answered whole
	calls     []string // what was called, in order
	// create and remove carry calls out; nil only answers them.
	create, remove func(ctx context.Context, name string) error
	disks          map[string]imclient.Disk // what DiskGet answers, by key; one that is missing is not found
	diskError      error
	diskGets       int
	recorded       []NodeDisk // what the Node records
}

// disk answers a DiskGet.
func (s *server) disk(_ context.Context, _ string, query imclient.DiskQuery) (imclient.Disk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diskGets++
	disk, found := s.disks[query.Name]
	switch {
	case s.diskError != nil:
		return imclient.Disk{}, s.diskError
	case !found:
		return imclient.Disk{}, imclient.ErrDiskNotFound
	}
	return disk, nil
}

// untracked is the connection under the inventory's own.
func untracked(client imclient.Client) imclient.Client {
	if t, ok := client.(*tracked); ok {
		return t.Client
	}
	return client
}

// answer is one whole list as the server knows that it gave it.
type answer struct {
	client       *fakeClient
	since        time.Time // when the client's connection was made
	began, ended time.Time
	instances    map[string]Instance
}

// fakeClient is one connection to a server.
type fakeClient struct {
	server *server
	notice chan struct{}
	closed chan struct{}
	once   sync.Once
	since  time.Time
}

func (s *server) connect(Target) (imclient.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &fakeClient{server: s, notice: make(chan struct{}, 100), closed: make(chan struct{})}
	s.clients = append(s.clients, c)
	return c, nil
}

func (c *fakeClient) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *fakeClient) answer(ctx context.Context) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	select {
	case <-c.closed:
		return errGone
	default:
	}
	if c.server.down {
		return errGone
	}
	return ctx.Err()
}

func (c *fakeClient) Version(ctx context.Context) (imclient.Version, error) {
	c.since = time.Now()
	c.server.set(func(s *server) { s.calls = append(s.calls, "version") })
	return imclient.Version{APIVersion: 7, APIMinVersion: 1}, c.answer(ctx)
}

func (c *fakeClient) Watch(ctx context.Context) (imclient.Watch, error) {
	c.server.set(func(s *server) { s.calls = append(s.calls, "watch") })
	return c, c.answer(ctx)
}

func (c *fakeClient) Next() error {
	select {
	case <-c.notice:
		return nil
	case <-c.closed:
		return errGone
	}
}

func (c *fakeClient) List(ctx context.Context, cause imclient.Cause, _ imclient.Known) (map[string]Instance, error) {
	if err := c.answer(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	c.server.mu.Lock()
	c.server.causes = append(c.server.causes, cause)
	c.server.calls = append(c.server.calls, "list")
	instances, err, latency, gate := maps.Clone(c.server.instances), c.server.listError, c.server.latency, c.server.gate
	if c.server.late {
		ctx = context.WithoutCancel(ctx)
	}
	c.server.mu.Unlock()
	if instances == nil {
		instances = map[string]Instance{}
	}
	if gate != nil {
		<-gate
	}
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, errGone
	}
	if err == nil {
		c.server.set(func(s *server) {
			s.answers = append(s.answers, answer{c, c.since, began, time.Now(), maps.Clone(instances)})
		})
	}
	return instances, err
}

func (c *fakeClient) Create(ctx context.Context, request imclient.CreateRequest) error {
	if c.server.create != nil {
		return c.server.create(ctx, request.Name)
	}
	return c.answer(ctx)
}

func (c *fakeClient) Suspend(ctx context.Context, _ string) error { return c.answer(ctx) }

func (c *fakeClient) Resume(ctx context.Context, _ string) error { return c.answer(ctx) }

func (c *fakeClient) SetANAState(ctx context.Context, _, _ string) error { return c.answer(ctx) }

func (c *fakeClient) SwitchOver(ctx context.Context, _ imclient.SwitchOverRequest) error {
	return c.answer(ctx)
}

func (c *fakeClient) SetLogs(ctx context.Context, _ imclient.Logs) error { return c.answer(ctx) }

func (c *fakeClient) Delete(ctx context.Context, request imclient.DeleteRequest) error {
	if c.server.remove != nil {
		return c.server.remove(ctx, request.Name)
	}
	return c.answer(ctx)
}

// change sets what the server holds and, when reported to, sends a notice.
func (s *server) change(notify bool, f func(instances map[string]Instance)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.instances == nil {
		s.instances = map[string]Instance{}
	}
	f(s.instances)
	if notify {
		s.notify()
	}
}

// notify sends a notice on every connection; the lock is held.
func (s *server) notify() {
	for _, c := range s.clients {
		select {
		case c.notice <- struct{}{}:
		default:
		}
	}
}

// crash cuts every connection and stays down or not.
func (s *server) crash(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
	for _, c := range s.clients {
		_ = c.Close()
	}
	s.clients = nil
}

func (s *server) set(f func(s *server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
}

// lists returns the causes of the lists so far and forgets them.
func (s *server) lists() []imclient.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	causes := s.causes
	s.causes = nil
	return causes
}

func running(name, uuid string) Instance {
	return Instance{Name: name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1, State: v1beta2.InstanceStateRunning,
		UUID: uuid, UUIDSource: imclient.UUIDFromInstanceStatus}
}

// bench is an inventory of one scripted server in a bubble of fake time.
type bench struct {
	*Inventory
	server  *server
	target  Target
	mu      sync.Mutex
	changes []Change
}

const manager = "instance-manager-a"

// bubble runs a test in fake time, with an inventory of one instance manager.
func bubble(t *testing.T, dataEngine string, test func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{server: &server{}, target: Target{InstanceManager: manager, Node: "node-1", DataEngine: dataEngine, Address: "fake",
			PodUID: "pod-1"}}
		b.Inventory = New(Config{Connect: b.server.connect, AskDisk: b.server.disk, Random: func() float64 { return 0.5 },
			Disks: func(string) ([]NodeDisk, bool) {
				b.server.mu.Lock()
				defer b.server.mu.Unlock()
				return b.server.recorded, true
			}})
		b.Subscribe(func(c Change) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.changes = append(b.changes, c)
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.Start(ctx) }()
		defer func() {
			cancel()
			require.NoError(t, <-ended)
		}()
		synctest.Wait()
		test(t, b)
	})
}

// startWith begins with a server that has one instance, and returns once the inventory had the time to read it.
func (b *bench) startWith(instance Instance) {
	b.server.change(false, func(m map[string]Instance) { m[instance.Name] = instance })
	b.Set(b.target)
	b.after(time.Second)
}

// after lets everything happen that is due within a time.
func (b *bench) after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// seen returns the changes so far and forgets them.
func (b *bench) seen() []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	changes := b.changes
	b.changes = nil
	return changes
}

func (b *bench) names(t *testing.T) []string {
	t.Helper()
	list, ok := b.Latest(manager)
	require.True(t, ok, "the inventory is unknown: %v", b.Err(manager))
	return list.Instances.names()
}

// absent and expectAbsence ask for what no disk keeps from being listed.
func (b *bench) absent(name, uuid string) bool {
	return b.Absent(Subject{InstanceManager: manager, Name: name, UUID: uuid, Type: v1beta2.InstanceTypeEngine})
}

func (b *bench) expectAbsence(name string) time.Time {
	return b.ExpectAbsence(Subject{InstanceManager: manager, Name: name, Type: v1beta2.InstanceTypeEngine})
}
