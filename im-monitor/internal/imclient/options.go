package imclient

import (
	"context"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"drover.dev/drover/shared/managerimage"
)

// Options report how instance managers are reached. The zero value of a field means its default.
type Options struct {
	// InstancePort (8503) and SPDKPort (8504, v2 only) are where the two services listen.
	InstancePort, SPDKPort int
	// Dial makes a transport to host:port; TCP by default.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Credentials secure every connection; nil means plaintext.
	Credentials *Credentials
	// RequireTLS refuses servers whose image speaks no TLS on a port. PlaintextOfUnknown lets a server of unknown release that answers in
	// plaintext on the ports 8502 and 8504 be called in plaintext there.
	RequireTLS, PlaintextOfUnknown bool
	// ListTimeout (10 s) bounds every call that reads, LifecycleTimeout (3 min) every call that changes an instance.
	ListTimeout, LifecycleTimeout time.Duration
	// MaxMessageBytes (16 MiB) bounds every answer.
	MaxMessageBytes int
	// MayCall returns an error while no call with an effect may be sent; nil allows all. Calls that read are not asked about.
	MayCall func() error
	// Metrics count calls and connections; nil counts nowhere.
	Metrics *Metrics
}

// Keepalive: servers close a connection that pings more often than every 10 s, and some close one that pings without a stream. The watch
// stream is always open, so a dead peer is noticed after 30 s + 10 s without any ping that could offend. A proxy's connection pings while a
// call is open, and right after the next one has begun.
const (
	keepaliveTime    = 30 * time.Second
	keepaliveTimeout = 10 * time.Second
)

// bufferBytes is the size of a connection's read and write buffers: there are a thousand connections, and each is idle nearly always.
const bufferBytes = 4 << 10

// windowBytes is how much of an answer may be under way. It is fixed: a window that gRPC fits to the network costs a ping, and its answer,
// with every call.
const windowBytes = 1 << 20

// maxHeaderBytes bounds a server's headers, error messages included.
const maxHeaderBytes = 64 << 10

// Dialer makes connections to instance managers.
type Dialer struct {
	options    Options
	keepalive  keepalive.ClientParameters
	encryption *encryption
}

// NewDialer fills in the defaults.
func NewDialer(options Options) *Dialer {
	if options.InstancePort == 0 {
		options.InstancePort = 8503
	}
	if options.SPDKPort == 0 {
		options.SPDKPort = 8504
	}
	if options.Dial == nil {
		options.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
	}
	if options.ListTimeout == 0 {
		options.ListTimeout = 10 * time.Second
	}
	if options.LifecycleTimeout == 0 {
		options.LifecycleTimeout = 3 * time.Minute
	}
	if options.MaxMessageBytes == 0 {
		options.MaxMessageBytes = 16 << 20
	}
	if options.Metrics == nil {
		options.Metrics = NewMetrics(nil)
	}
	return &Dialer{options: options, keepalive: keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout},
		encryption: &encryption{ports: map[string]managerimage.TLS{}, unencrypted: map[string]bool{}}}
}

// dialOptions are common to all connections. Nothing is retried and nothing reconnects by itself.
func (d *Dialer) dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithUserAgent("drover-im-monitor"),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableHealthCheck(),
		grpc.WithIdleTimeout(0),
		grpc.WithReadBufferSize(bufferBytes),
		grpc.WithWriteBufferSize(bufferBytes),
		grpc.WithStaticStreamWindowSize(windowBytes),
		grpc.WithStaticConnWindowSize(windowBytes),
		grpc.WithMaxHeaderListSize(maxHeaderBytes),
		grpc.WithKeepaliveParams(d.keepalive),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: d.options.ListTimeout}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(d.options.MaxMessageBytes)),
		grpc.WithChainUnaryInterceptor(d.options.Metrics.unary, d.guard),
		grpc.WithChainStreamInterceptor(d.options.Metrics.stream),
	}
}
