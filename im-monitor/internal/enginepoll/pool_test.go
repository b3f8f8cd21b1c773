package enginepoll

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

func TestAConnectionIsKeptWhileItAnswersAndIsUsed(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	p := &pool{connect: imclient.NewDialer(imclient.Options{}).Proxy}
	get := func(address string, at time.Duration) *imclient.Proxy {
		proxy, err := p.get(address, now.Add(at))
		require.NoError(t, err)
		return proxy
	}
	a, b := get("10.0.0.1", 0), get("10.0.0.2", 0)
	require.NotSame(t, a, b)
	require.Same(t, a, get("10.0.0.1", time.Minute))

	p.failed(way{manager: "10.0.0.1", proxy: a}, errors.New("an answer"))
	require.Same(t, a, get("10.0.0.1", 2*time.Minute), "who answers with an error is there")
	p.failed(way{manager: "10.0.0.1", proxy: b}, imclient.ErrUnreachable)
	require.Same(t, a, get("10.0.0.1", 3*time.Minute), "another connection failed")
	p.failed(way{manager: "10.0.0.1", proxy: a}, imclient.ErrUnreachable)
	c := get("10.0.0.1", 4*time.Minute)
	require.NotSame(t, a, c)
	p.failed(way{manager: "10.0.0.1", proxy: a}, imclient.ErrUnreachable)
	require.Same(t, c, get("10.0.0.1", 5*time.Minute), "a failure of the one before")

	require.Same(t, c, get("10.0.0.1", idleEnd))
	require.NotContains(t, p.open, "10.0.0.2", "no one used it")
	_, err := p.get("nowhere", now)
	require.Error(t, err)
}

// twoEngines is a server of which one engine hangs, and the other one removes a snapshot once the test allows it.
type twoEngines struct {
	imrpc.UnimplementedProxyEngineServiceServer
	begun, done chan struct{}
}

func (*twoEngines) ReplicaList(ctx context.Context, _ *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaListProxyResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *twoEngines) SnapshotRemove(ctx context.Context, _ *imrpc.EngineSnapshotRemoveRequest) (*emptypb.Empty, error) {
	close(s.begun)
	select {
	case <-s.done:
		return &emptypb.Empty{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestAnEngineThatHangsEndsNoCallToAnother(t *testing.T) {
	listener, s := bufconn.Listen(1<<16), &twoEngines{begun: make(chan struct{}), done: make(chan struct{})}
	server := grpc.NewServer()
	imrpc.RegisterProxyEngineServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	p := &pool{connect: imclient.NewDialer(imclient.Options{ListTimeout: 100 * time.Millisecond,
		Dial: func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }}).Proxy}
	shared, err := p.get("10.0.0.1", time.Now())
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		ended <- shared.RemoveSnapshots(t.Context(), imclient.Target{Engine: "vol-1-e-0", DataEngine: "v2"}, []string{"s"})
	}()
	<-s.begun
	hangs := way{Target: imclient.Target{Engine: "vol-2-e-0"}, manager: "10.0.0.1", proxy: shared}
	poll := func() {
		_, err := hangs.replicas(t.Context())
		require.ErrorIs(t, err, imclient.ErrUnreachable)
		p.failed(hangs, err)
	}
	poll()
	close(s.done)
	require.NoError(t, <-ended)
	again, err := p.get("10.0.0.1", time.Now())
	require.NoError(t, err)
	require.Same(t, shared, again)

	server.Stop()
	poll()
	again, err = p.get("10.0.0.1", time.Now())
	require.NoError(t, err)
	require.NotSame(t, shared, again, "its transport is lost")
}
