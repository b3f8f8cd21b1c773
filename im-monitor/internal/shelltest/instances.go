package shelltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// Call is one call that reached a server and changes instances.
type Call struct {
	Manager string
	// Exactly one of these is set.
	Create     *imclient.CreateRequest
	Delete     *imclient.DeleteRequest
	SwitchOver *imclient.SwitchOverRequest
	// Suspend and Resume name a frontend.
	Suspend, Resume string
	// Path names an engine and the state that the path to it must have.
	Path string
}

// Hook runs before a call takes effect; its error is the answer, and then there is no effect.
type Hook func(ctx context.Context, call Call) error

// OnCall sets the hook; nil removes it.
func (s *Servers) OnCall(hook Hook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// Calls are all calls so far, in order.
func (s *Servers) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Instance is what a server holds under a name.
func (s *Servers) Instance(manager, name string) (inventory.Instance, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.instances[manager][name]
	return i, ok
}

// Today makes v2 servers report and compare no UUIDs, as today's servers.
func (s *Servers) Today(today bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.today = today
}

func (s *Servers) receive(ctx context.Context, call Call) error {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	hook := s.hook
	s.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func refused(method string, kind error, why string) error {
	return &imclient.CallError{Method: method, Address: "scripted", Kind: kind, Err: errors.New(why)}
}

// Create makes a running instance. A stopped v2 replica runs again with its UUID.
func (c *connection) Create(ctx context.Context, request imclient.CreateRequest) error {
	if err := c.servers.receive(ctx, Call{Manager: c.manager, Create: &request}); err != nil {
		return err
	}
	c.servers.mu.Lock()
	if c.down() {
		c.servers.mu.Unlock()
		return errDown
	}
	existing, there := c.servers.instances[c.manager][request.Name]
	revived := there && request.DataEngine == v1beta2.DataEngineV2 && request.Type == v1beta2.InstanceTypeReplica &&
		existing.State == v1beta2.InstanceStateStopped
	if there && !revived {
		c.servers.mu.Unlock()
		return refused("InstanceCreate", imclient.ErrAlreadyExists, request.Name)
	}
	made := c.servers.make(request, existing)
	c.servers.link(request)
	c.servers.mu.Unlock()
	c.servers.Put(c.manager, made)
	return nil
}

// make is the instance that a request brings; the lock is held.
func (s *Servers) make(request imclient.CreateRequest, existing inventory.Instance) inventory.Instance {
	s.next++
	port := int32(10000 + 10*s.next)
	out := inventory.Instance{Name: request.Name, Type: request.Type, DataEngine: request.DataEngine, State: v1beta2.InstanceStateRunning,
		UUID: existing.UUID, UUIDSource: imclient.UUIDFromInstanceStatus, PortStart: port, PortEnd: port + request.PortCount - 1}
	if out.UUID == "" {
		out.UUID = fmt.Sprintf("00000000-0000-0000-0000-%012d", s.next)
	}
	if request.SPDK != nil {
		out.DiskUUID, out.Replicas = request.SPDK.DiskUUID, request.SPDK.Replicas
	}
	if s.today && request.Type == v1beta2.InstanceTypeEngine && request.SPDK != nil {
		out.UUID, out.UUIDSource = "", imclient.UUIDUnknown
	}
	if request.Type == v1beta2.InstanceTypeEngineFrontend {
		out.UUID, out.UUIDSource, out.PortStart, out.PortEnd = "", imclient.UUIDUnknown, 0, 0
		out.Endpoint = "/dev/longhorn/" + request.Volume
		first := path(request.EngineName, request.TargetAddress, "optimized")
		out.TargetPortStart, out.TargetPortEnd = first.TargetPort, first.TargetPort
		out.Frontend = &imclient.Frontend{EngineName: request.EngineName, Kind: request.SPDK.Frontend, ActivePath: request.TargetAddress,
			PreferredPath: request.TargetAddress, Paths: []imclient.Path{first}}
	}
	return out
}

func path(engine, address, state string) imclient.Path {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		number = 0
	}
	return imclient.Path{EngineName: engine, TargetIP: host, TargetPort: int32(number), ANAState: state}
}

// Suspend holds a frontend's I/O.
func (c *connection) Suspend(ctx context.Context, name string) error {
	return c.turn(ctx, Call{Manager: c.manager, Suspend: name}, name, v1beta2.InstanceStateSuspended)
}

// Resume lets it continue.
func (c *connection) Resume(ctx context.Context, name string) error {
	return c.turn(ctx, Call{Manager: c.manager, Resume: name}, name, v1beta2.InstanceStateRunning)
}

func (c *connection) turn(ctx context.Context, call Call, name, state string) error {
	if err := c.servers.receive(ctx, call); err != nil {
		return err
	}
	i, ok := c.servers.Instance(c.manager, name)
	if !ok || i.Frontend == nil {
		return refused("InstanceSuspend", imclient.ErrNotFound, name)
	}
	i.State = state
	c.servers.Put(c.manager, i)
	return nil
}

// Delete does what a conforming server does: it compares the UUID unless the caller vouches for the name, keeps the data of a v2 replica
// unless requested to destroy it, ignores a v2 engine without clean-up, and removes everything else.
func (c *connection) Delete(ctx context.Context, request imclient.DeleteRequest) error {
	if err := c.servers.receive(ctx, Call{Manager: c.manager, Delete: &request}); err != nil {
		return err
	}
	i, ok := c.servers.Instance(c.manager, request.Name)
	switch {
	case !ok || request.UUID != "" && i.UUID != "" && i.UUID != request.UUID:
		return refused("InstanceDelete", imclient.ErrNotFound, request.Name)
	case request.DataEngine == v1beta2.DataEngineV2 && request.Type == v1beta2.InstanceTypeEngine && !request.CleanupRequired:
	case request.DataEngine == v1beta2.DataEngineV2 && request.Type == v1beta2.InstanceTypeReplica && !request.CleanupRequired:
		i.State, i.PortStart, i.PortEnd = v1beta2.InstanceStateStopped, 0, 0
		c.servers.Put(c.manager, i)
	default:
		c.servers.Drop(c.manager, request.Name)
	}
	return nil
}
