package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// Ports of an instance manager's services.
const (
	ProcessPort  = 8500
	ProxyPort    = 8501
	DiskPort     = 8502
	InstancePort = 8503
	SPDKPort     = 8504
)

// Options report how pods are served.
type Options struct {
	Plane  *dataplane.Plane
	Faults *fault.Set
	// PortOffset is added to every port, so that a recording proxy can have the real ones.
	PortOffset int
	// NoticeGap is the least time between two notices of a watch; what changes meanwhile is one.
	NoticeGap time.Duration
	// Credentials secure every connection; nil means plaintext.
	Credentials credentials.TransportCredentials
	Log         *slog.Logger
}

// Servers are the gRPC servers of all pods.
type Servers struct {
	options Options
	ports   map[int]*port
}

// port is one service's server for all pods, fed with their connections.
type port struct {
	server *grpc.Server
	funnel *funnel
}

// New makes the servers; Run serves.
func New(o Options) *Servers {
	s := &Servers{options: o, ports: map[int]*port{}}
	for number, register := range map[int]func(*grpc.Server){
		ProcessPort:  func(g *grpc.Server) { common.RegisterProcessManagerServiceServer(g, &processService{}) },
		ProxyPort:    func(g *grpc.Server) { imrpc.RegisterProxyEngineServiceServer(g, &proxyService{servers: s}) },
		DiskPort:     func(g *grpc.Server) { imrpc.RegisterDiskServiceServer(g, &diskService{servers: s}) },
		InstancePort: func(g *grpc.Server) { imrpc.RegisterInstanceServiceServer(g, &instanceService{servers: s}) },
		SPDKPort:     func(g *grpc.Server) { spdkrpc.RegisterSPDKServiceServer(g, &spdkService{servers: s}) },
	} {
		g := grpc.NewServer(s.serverOptions(number)...)
		register(g)
		grpc_health_v1.RegisterHealthServer(g, health.NewServer())
		reflection.Register(g)
		s.ports[number] = &port{server: g, funnel: newFunnel()}
	}
	return s
}

// bufferBytes keeps thousands of idle connections small.
const bufferBytes = 4 << 10

func (s *Servers) serverOptions(number int) []grpc.ServerOption {
	o := []grpc.ServerOption{
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
		grpc.ReadBufferSize(bufferBytes),
		grpc.WriteBufferSize(bufferBytes),
		grpc.MaxRecvMsgSize(16 << 20),
		grpc.MaxSendMsgSize(1 << 30),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second}),
	}
	if s.options.Credentials != nil {
		o = append(o, grpc.Creds(byImage{s.options.Credentials, number}))
	}
	return o
}

// Run serves until ctx ends; then every connection is closed.
func (s *Servers) Run(ctx context.Context) error {
	done := make(chan error, len(s.ports))
	for number, p := range s.ports {
		go func() {
			if err := p.server.Serve(p.funnel); err != nil && ctx.Err() == nil {
				done <- fmt.Errorf("serving port %d: %w", number, err)
				return
			}
			done <- nil
		}()
	}
	var first error
	select {
	case <-ctx.Done():
	case first = <-done:
	}
	for _, p := range s.ports {
		p.server.Stop()
	}
	return first
}

// portsOf are the services of an instance manager.
func portsOf(engine string) []int {
	if engine == dataplane.V2 {
		return []int{ProcessPort, ProxyPort, DiskPort, InstancePort, SPDKPort}
	}
	return []int{ProcessPort, ProxyPort, DiskPort, InstancePort}
}

func (s *Servers) listen(ip string, number int) (net.Listener, error) {
	where := net.JoinHostPort(ip, strconv.Itoa(number+s.options.PortOffset))
	l, err := net.Listen("tcp4", where)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", where, err)
	}
	return l, nil
}

// endpointOf is the endpoint that a call came in at.
func endpointOf(ctx context.Context) (*Endpoint, error) {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.LocalAddr.(endpointAddr); ok {
			return a.endpoint, nil
		}
	}
	return nil, status.Error(codes.Internal, "the call did not come in at an instance manager's address")
}

// serverOf is the data plane's server that a call is for.
func serverOf(ctx context.Context) (*dataplane.Server, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	return e.server, nil
}
