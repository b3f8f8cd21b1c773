package imclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// Conn is one connection to one instance manager; it implements Client.
type Conn struct {
	address   string
	options   Options
	instances *grpc.ClientConn
	spdk      *grpc.ClientConn // nil for v1
	refused   refusal
	closing   sync.Once
	// doubt forgets that the server answers in plaintext; nil if the SPDK service is not called in plaintext.
	doubt func()
}

var _ Client = (*Conn)(nil)

// errSpent ends every attempt of the gRPC library to replace a lost transport by a new one behind our back.
var errSpent = errors.New("the connection was lost and is not made again")

// Connect starts a connection to the instance manager at an address (without a port). It does not wait: the first call does. For v2 the
// SPDK service is connected to at the same time, so that all answers come from the same run of the server. Its image decides which ports
// speak TLS.
func (d *Dialer) Connect(address, dataEngine string, ports managerimage.TLS) (*Conn, error) {
	d.encryption.note(address, ports)
	conn := &Conn{address: address, options: d.options}
	if _, unencrypted := d.encryption.at(address); unencrypted {
		conn.doubt = func() { d.encryption.forget(address) }
	}
	var err error
	if conn.instances, err = d.open(address, d.options.InstancePort, &conn.refused); err != nil {
		return nil, err
	}
	if dataEngine == v1beta2.DataEngineV2 {
		if conn.spdk, err = d.open(address, d.options.SPDKPort, &conn.refused); err != nil {
			return nil, errors.Join(err, conn.instances.Close())
		}
		conn.spdk.Connect()
	}
	d.options.Metrics.connections.Inc()
	return conn, nil
}

// open makes a client connection that dials once and never again.
func (d *Dialer) open(address string, port int, refused *refusal) (*grpc.ClientConn, error) {
	if _, err := netip.ParseAddr(address); err != nil {
		return nil, fmt.Errorf("connecting to an instance manager: %w", err) // an empty host would be this machine
	}
	transport, err := d.transport(address, port, refused)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	var dialled sync.Once
	once := func(ctx context.Context, target string) (net.Conn, error) {
		connection, err := net.Conn(nil), errSpent
		dialled.Do(func() { connection, err = d.options.Dial(ctx, target) })
		return connection, err
	}
	target := net.JoinHostPort(address, strconv.Itoa(port))
	connection, err := grpc.NewClient("passthrough:///"+target, append(d.dialOptions(),
		grpc.WithTransportCredentials(transport), grpc.WithContextDialer(once))...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", target, err)
	}
	return connection, nil
}

// Close ends the connection and every call on it. Closing again does nothing.
func (c *Conn) Close() error {
	var err error
	c.closing.Do(func() {
		c.options.Metrics.connections.Dec()
		err = c.instances.Close()
		if c.spdk != nil {
			err = errors.Join(err, c.spdk.Close())
		}
	})
	return err
}

// Version reports the server's versions, once they are known to meet ours and, for v2, the SPDK service is connected, too.
func (c *Conn) Version(ctx context.Context) (Version, error) {
	ctx, cancel := c.listContext(ctx)
	defer cancel()
	answer, err := imrpc.NewInstanceServiceClient(c.instances).VersionGet(ctx, &emptypb.Empty{})
	if err != nil {
		return Version{}, c.failed(ctx, "VersionGet", err)
	}
	version := Version{
		Version:            cut(answer.GetVersion()),
		GitCommit:          cut(answer.GetGitCommit()),
		APIVersion:         answer.GetInstanceManagerAPIVersion(),
		APIMinVersion:      answer.GetInstanceManagerAPIMinVersion(),
		ProxyAPIVersion:    answer.GetInstanceManagerProxyAPIVersion(),
		ProxyAPIMinVersion: answer.GetInstanceManagerProxyAPIMinVersion(),
	}
	if err := version.Check(); err != nil {
		return version, fmt.Errorf("VersionGet at %s: %w", c.address, err)
	}
	return version, c.awaitSPDK(ctx)
}

// awaitSPDK waits for the second connection of a v2 instance manager. After a server answered in plaintext, another server may have got its
// address: if plaintext fails, TLS is tried again.
func (c *Conn) awaitSPDK(ctx context.Context) error {
	if c.spdk == nil {
		return nil
	}
	for {
		state := c.spdk.GetState()
		if state == connectivity.Ready {
			return nil
		}
		if state != connectivity.Idle && state != connectivity.Connecting || !c.spdk.WaitForStateChange(ctx, state) {
			if c.doubt != nil {
				c.doubt()
			}
			return fmt.Errorf("connecting to %s: %w: its SPDK service at port %d is %s",
				c.address, ErrUnreachable, c.options.SPDKPort, strings.ToLower(state.String()))
		}
	}
}

// Watch opens the stream of change notices; it ends with ctx.
func (c *Conn) Watch(ctx context.Context) (Watch, error) {
	stream, err := imrpc.NewInstanceServiceClient(c.instances).InstanceWatch(ctx, &emptypb.Empty{})
	if err != nil {
		return nil, c.failed(ctx, "InstanceWatch", err)
	}
	return &watch{stream: stream, conn: c}, nil
}

// watch is the stream of one connection.
type watch struct {
	stream grpc.ServerStreamingClient[emptypb.Empty]
	conn   *Conn
}

// Next waits for the next notice. A server that ends the stream has gone as far as we are concerned.
func (w *watch) Next() error {
	_, err := w.stream.Recv()
	if errors.Is(err, io.EOF) {
		return &CallError{Method: "InstanceWatch", Address: w.conn.address, Kind: ErrUnreachable, Err: err}
	}
	return w.conn.failed(w.stream.Context(), "InstanceWatch", err)
}

// Delete asks for the deletion of one instance. Without a name and UUID there is no call (ORP-3), unless the caller vouches for the name.
func (c *Conn) Delete(ctx context.Context, request DeleteRequest) error {
	if request.Name == "" || request.UUID == "" && !request.ByName {
		return &CallError{Method: "InstanceDelete", Address: c.address, Kind: ErrRefused,
			Err: fmt.Errorf("deleting instance %q with UUID %q: both are needed", request.Name, request.UUID)}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.LifecycleTimeout)
	defer cancel()
	_, err := imrpc.NewInstanceServiceClient(c.instances).InstanceDelete(ctx, &imrpc.InstanceDeleteRequest{
		Name:            request.Name,
		Type:            request.Type,
		DataEngine:      dataEngines[request.DataEngine],
		Uuid:            request.UUID,
		DiskUuid:        request.DiskUUID,
		CleanupRequired: request.CleanupRequired,
	})
	return callError(ctx, "InstanceDelete", c.address, err)
}

// dataEngines are the engines by the name that CRs use; unset means v1.
var dataEngines = map[string]imrpc.DataEngine{
	v1beta2.DataEngineV1: imrpc.DataEngine_DATA_ENGINE_V1,
	v1beta2.DataEngineV2: imrpc.DataEngine_DATA_ENGINE_V2,
}

// spdkClient is the SPDK service of a v2 instance manager.
func (c *Conn) spdkClient() spdkrpc.SPDKServiceClient { return spdkrpc.NewSPDKServiceClient(c.spdk) }

// listContext bounds one call that reads.
func (c *Conn) listContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.options.ListTimeout)
}
