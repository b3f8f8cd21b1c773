package inventory

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

// wireServer is a small instance manager that speaks gRPC and can be killed and started again.
type wireServer struct {
	imrpc.UnimplementedInstanceServiceServer

	mu       sync.Mutex
	names    []string
	watchers map[chan struct{}]struct{}
	listener *bufconn.Listener
	server   *grpc.Server
}

func (s *wireServer) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener, s.server = bufconn.Listen(1<<16), grpc.NewServer()
	s.watchers = map[chan struct{}]struct{}{}
	imrpc.RegisterInstanceServiceServer(s.server, s)
	go func(server *grpc.Server, listener net.Listener) { _ = server.Serve(listener) }(s.server, s.listener)
}

func (s *wireServer) stop() {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	server.Stop()
}

func (s *wireServer) dial(ctx context.Context, _ string) (net.Conn, error) {
	s.mu.Lock()
	listener := s.listener
	s.mu.Unlock()
	return listener.DialContext(ctx)
}

func (s *wireServer) hold(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = names
	for watcher := range s.watchers {
		nudge(watcher)
	}
}

func (s *wireServer) VersionGet(context.Context, *emptypb.Empty) (*common.VersionResponse, error) {
	return &common.VersionResponse{InstanceManagerAPIVersion: 7, InstanceManagerAPIMinVersion: 1}, nil
}

func (s *wireServer) InstanceList(context.Context, *emptypb.Empty) (*imrpc.InstanceListResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &imrpc.InstanceListResponse{Instances: map[string]*imrpc.InstanceResponse{}}
	for _, name := range s.names {
		answer.Instances[name] = &imrpc.InstanceResponse{Status: &imrpc.InstanceStatus{State: "running", Uuid: "u"}}
	}
	return answer, nil
}

func (s *wireServer) InstanceWatch(_ *emptypb.Empty, stream grpc.ServerStreamingServer[emptypb.Empty]) error {
	watcher := make(chan struct{}, 1)
	s.mu.Lock()
	s.watchers[watcher] = struct{}{}
	s.mu.Unlock()
	for {
		select {
		case <-watcher:
			if err := stream.Send(&emptypb.Empty{}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
}

// TestOverTheWire follows a real gRPC server through notices, a crash and a restart.
func TestOverTheWire(t *testing.T) {
	s := &wireServer{}
	s.start()
	i := New(Config{Connect: Over(imclient.NewDialer(imclient.Options{Dial: s.dial})), BackoffMin: time.Millisecond,
		BackoffMax: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Start(ctx) }()
	i.Set(Target{InstanceManager: manager, DataEngine: v1beta2.DataEngineV1, Address: "10.0.0.1"})
	holds := func(names ...string) func() bool {
		return func() bool {
			list, known := i.Latest(manager)
			return known && list.Instances.Len() == len(names)
		}
	}
	require.Eventually(t, holds(), time.Minute, time.Millisecond)
	first, _ := i.Latest(manager)

	s.hold("r-1", "r-2")
	require.Eventually(t, holds("r-1", "r-2"), time.Minute, time.Millisecond)
	list, _ := i.Latest(manager)
	require.Equal(t, first.Epoch, list.Epoch)

	s.stop()
	require.Eventually(t, func() bool { _, known := i.Latest(manager); return !known }, time.Minute, time.Millisecond)
	_, err := i.Fresh(t.Context(), manager)
	require.ErrorIs(t, err, ErrUnreachable)

	s.hold("r-3")
	s.start()
	require.Eventually(t, holds("r-3"), time.Minute, time.Millisecond)
	list, _ = i.Latest(manager)
	require.Greater(t, list.Epoch.Connection, first.Epoch.Connection)
	fresh, err := i.Fresh(t.Context(), manager)
	require.NoError(t, err)
	require.Greater(t, fresh.Serial, list.Serial)

	cancel()
	require.NoError(t, <-ended)
	s.stop()
}
