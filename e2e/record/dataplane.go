package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Ports are the fixed ports of an instance manager.
var Ports = []int{8501, 8502, 8503, 8504}

// Call is one finished call at an instance manager. Streams are counted when they begin and never kept.
type Call struct {
	Step
	Address, Method string
	// Answer is set in the calls that Observe reports.
	Request, Answer []byte
	Code            codes.Code
	Began, Ended    time.Time
}

// Method counts calls: which method, and whether it is a stream.
type Method struct {
	Name   string
	Stream bool
}

// DataPlane is the proxy in front of the instance managers. It listens on an instance manager's own address and ports and
// forwards to the same address at a port that is higher by the offset.
type DataPlane struct {
	sequence *Sequence
	ports    []int
	offset   int
	counts   Counts[Method]

	mutex   sync.Mutex
	servers map[string]*grpc.Server
	clients map[string]*grpc.ClientConn
	calls   []Call
	before  func(Call) error
	each    func(Call) error
	after   func(Call)
	forward func(address string, port int) string
}

// NewDataPlane creates a proxy that serves no address yet.
func NewDataPlane(sequence *Sequence, ports []int, offset int) *DataPlane {
	return &DataPlane{sequence: sequence, ports: ports, offset: offset,
		servers: map[string]*grpc.Server{}, clients: map[string]*grpc.ClientConn{}}
}

// Serve listens on the address. A second call for the same address does nothing.
func (d *DataPlane) Serve(address string) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.servers[address] != nil {
		return nil
	}
	var listeners []net.Listener
	for _, port := range d.ports {
		listener, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
		if err != nil {
			for _, open := range listeners {
				err = errors.Join(err, open.Close())
			}
			return fmt.Errorf("listening before the instance manager: %w", err)
		}
		listeners = append(listeners, listener)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(d.handle),
		grpc.MaxRecvMsgSize(64<<20), grpc.ReadBufferSize(4<<10), grpc.WriteBufferSize(4<<10),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}))
	d.servers[address] = server
	for _, listener := range listeners {
		go func() { _ = server.Serve(listener) }()
	}
	return nil
}

// Forget stops listening on the address and closes its connections.
func (d *DataPlane) Forget(address string) {
	d.mutex.Lock()
	server := d.servers[address]
	delete(d.servers, address)
	var clients []*grpc.ClientConn
	for _, port := range d.ports {
		target := d.target(address, port)
		if client := d.clients[target]; client != nil {
			clients = append(clients, client)
			delete(d.clients, target)
		}
	}
	d.mutex.Unlock()
	if server != nil {
		server.Stop()
	}
	for _, client := range clients {
		_ = client.Close()
	}
}

// Close stops listening on every address.
func (d *DataPlane) Close() {
	d.mutex.Lock()
	var addresses []string
	for address := range d.servers {
		addresses = append(addresses, address)
	}
	d.mutex.Unlock()
	for _, address := range addresses {
		d.Forget(address)
	}
}

// Counts are the calls since the last Reset.
func (d *DataPlane) Counts() *Counts[Method] { return &d.counts }

// Calls returns every finished call that has an effect since the last Reset.
func (d *DataPlane) Calls() []Call {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return append([]Call(nil), d.calls...)
}

// Reset forgets counts and calls.
func (d *DataPlane) Reset() {
	d.counts.Reset()
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls = nil
}

// Before is called with every call that has an effect before it is forwarded, and may block to delay it; an error is the
// call's answer instead. Nil removes it.
func (d *DataPlane) Before(hook func(Call) error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.before = hook
}

// BeforeEach is called with every call, those without an effect among them, before it is forwarded, with its method and address alone. It
// may block to delay the call; an error is the call's answer instead. Set it before use.
func (d *DataPlane) BeforeEach(hook func(Call) error) { d.each = hook }

// Observe calls the function with every finished call that has an effect, in the place of keeping it for Calls. Set it before use.
func (d *DataPlane) Observe(after func(Call)) { d.after = after }

// ForwardTo lets the proxy forward to what the function returns for its own address and port. Set it before use.
func (d *DataPlane) ForwardTo(forward func(address string, port int) string) { d.forward = forward }

func (d *DataPlane) target(address string, port int) string {
	if d.forward != nil {
		return d.forward(address, port)
	}
	return net.JoinHostPort(address, strconv.Itoa(port+d.offset))
}

// reconnecting is shorter than the callers' own: the proxy must not stay without a connection when its callers have one again.
var reconnecting = backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}

func (d *DataPlane) client(target string) (*grpc.ClientConn, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if client := d.clients[target]; client != nil {
		return client, nil
	}
	client, err := grpc.NewClient("passthrough:///"+target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnecting, MinConnectTimeout: 5 * time.Second}),
		grpc.WithReadBufferSize(4<<10), grpc.WithWriteBufferSize(4<<10),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(64<<20)))
	if err != nil {
		return nil, fmt.Errorf("reaching the instance manager behind the proxy: %w", err)
	}
	d.clients[target] = client
	return client, nil
}

// handle forwards one call of any kind: a unary call is a stream of one message each way.
func (d *DataPlane) handle(_ any, downstream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(downstream)
	address, port, err := localAddress(downstream.Context())
	if err != nil {
		return err
	}
	d.counts.add(Method{Name: baseName(method), Stream: streams[baseName(method)]})
	if d.each != nil {
		if err := d.each(Call{Address: address, Method: baseName(method)}); err != nil {
			return err
		}
	}
	if effects[baseName(method)] {
		return d.effect(method, address, port, downstream)
	}
	upstream, err := d.open(downstream.Context(), method, address, port)
	if err != nil {
		return err
	}
	return pipe(downstream, upstream)
}

func (d *DataPlane) open(ctx context.Context, method, address string, port int) (grpc.ClientStream, error) {
	client, err := d.client(d.target(address, port))
	if err != nil {
		return nil, status.Error(codes.Unavailable, err.Error())
	}
	if incoming, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, incoming.Copy())
	}
	return client.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
}

// pipe copies messages both ways until the server ends the call.
func pipe(downstream grpc.ServerStream, upstream grpc.ClientStream) error {
	go func() {
		for {
			message := &frame{}
			if downstream.RecvMsg(message) != nil {
				_ = upstream.CloseSend()
				return
			}
			if upstream.SendMsg(message) != nil {
				return
			}
		}
	}()
	if header, err := upstream.Header(); err == nil {
		_ = downstream.SetHeader(header)
	}
	for {
		message := &frame{}
		err := upstream.RecvMsg(message)
		if err != nil {
			downstream.SetTrailer(upstream.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := downstream.SendMsg(message); err != nil {
			return err
		}
	}
}
