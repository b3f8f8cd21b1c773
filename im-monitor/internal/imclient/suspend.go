package imclient

import (
	"context"
	"errors"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// Suspend asks a v2 frontend to hold all I/O: whoever uses it waits, and nothing is acknowledged. Its state in the list tells what came of it.
func (c *Conn) Suspend(ctx context.Context, name string) error {
	if name == "" {
		return c.nameless("InstanceSuspend")
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := imrpc.NewInstanceServiceClient(c.instances).InstanceSuspend(ctx, &imrpc.InstanceSuspendRequest{
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Name: name, Type: typeFrontend})
	return callError(ctx, "InstanceSuspend", c.address, err)
}

// Resume asks a v2 frontend to let its I/O go on, by the paths that it has.
func (c *Conn) Resume(ctx context.Context, name string) error {
	if name == "" {
		return c.nameless("InstanceResume")
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := imrpc.NewInstanceServiceClient(c.instances).InstanceResume(ctx, &imrpc.InstanceResumeRequest{
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Name: name, Type: typeFrontend})
	return callError(ctx, "InstanceResume", c.address, err)
}

func (c *Conn) nameless(method string) error {
	return &CallError{Method: method, Address: c.address, Kind: ErrRefused, Err: errors.New("a frontend is needed")}
}
