package imclient

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
)

// Suspend asks a v2 frontend to hold all I/O: whoever uses it waits, and nothing is acknowledged. Its state in the list reports what came
// of it.
func (c *Conn) Suspend(ctx context.Context, name string) error {
	request := &imrpc.InstanceSuspendRequest{DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Name: name, Type: typeFrontend}
	return turn(ctx, c, "InstanceSuspend", name, imrpc.NewInstanceServiceClient(c.instances).InstanceSuspend, request)
}

// Resume asks a v2 frontend to let its I/O continue, by the paths that it has.
func (c *Conn) Resume(ctx context.Context, name string) error {
	request := &imrpc.InstanceResumeRequest{DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Name: name, Type: typeFrontend}
	return turn(ctx, c, "InstanceResume", name, imrpc.NewInstanceServiceClient(c.instances).InstanceResume, request)
}

// The states of the path to an engine, as its listener reports them to initiators.
const (
	ANAOptimized    = "optimized"
	ANAInaccessible = "inaccessible"
)

// noSubsystem is how a server reports that an engine which it lists exports nothing any more. There is no code for it.
const noSubsystem = "unable to find subsystem"

// SetANAState sets the state of the path to an engine that runs at this server, for every initiator. ErrNotFound: the engine, or its
// target, is not there, so that nothing leads to it.
func (c *Conn) SetANAState(ctx context.Context, engine, state string) error {
	const method = "EngineSetTargetListenerANAState"
	if engine == "" || c.spdk == nil {
		return &CallError{Method: method, Address: c.address, Kind: ErrRefused,
			Err: errors.New("an engine of a v2 instance manager is needed")}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := c.spdkClient().EngineSetTargetListenerANAState(ctx,
		&spdkrpc.EngineSetTargetListenerANAStateRequest{Name: engine, AnaState: state})
	if err != nil && strings.Contains(strings.ToLower(err.Error()), noSubsystem) {
		return &CallError{Method: method, Address: c.address, Kind: ErrNotFound, Err: err}
	}
	return callError(ctx, method, c.address, err)
}

// turn sends one call to a frontend that has a name.
func turn[R any](ctx context.Context, c *Conn, method, name string,
	call func(context.Context, R, ...grpc.CallOption) (*emptypb.Empty, error), request R) error {
	if name == "" {
		return &CallError{Method: method, Address: c.address, Kind: ErrRefused, Err: errors.New("a frontend is needed")}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := call(ctx, request)
	return callError(ctx, method, c.address, err)
}
