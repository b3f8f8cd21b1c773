package enginepoll_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// member is one replica of the scripted engine.
type member struct {
	name, address string
	mode          ptypes.ReplicaMode
	progress      int32
	rebuilding    bool
	left          bool // the caller of its ReplicaAdd went away
	prepared      bool // its copy has not begun
	done          chan struct{}
}

// engineServer is an instance manager's proxy service with one engine behind it, v1 by default: it names no
// replica, and answers ReplicaAdd when the rebuild is done, which is when the test reports it.
type engineServer struct {
	imrpc.UnimplementedProxyEngineServiceServer

	mu        sync.Mutex
	prepares  bool // additions stay before their copy
	listener  *bufconn.Listener
	server    *grpc.Server
	v2        bool
	down      bool
	hangs     bool
	inside    int
	most      int
	cut       int
	members   []*member
	size      int64
	expanding bool
	snapshots map[string]*imrpc.EngineSnapshotDiskInfo
	clones    map[string]*ptypes.SnapshotCloneStatusResponse
	restores  map[string]*imrpc.EngineBackupRestoreStatus
	refuses   map[string]error
	calls     []string
	asked     []*imrpc.ProxyEngineRequest
	clonedBy  []*imrpc.EngineSnapshotCloneRequest
	restored  []*imrpc.EngineBackupRestoreRequest
	// taskError is why no restore is begun although it is answered with OK.
	taskError string
	joined    []string
	work      snapshotWork
	copies    copyWork
	limits    limitWork
}

const serverAddress = "10.0.0.1"

func serve(t *testing.T) *engineServer {
	t.Helper()
	s := &engineServer{size: gib, refuses: map[string]error{},
		snapshots: map[string]*imrpc.EngineSnapshotDiskInfo{"volume-head": {Name: "volume-head"}}}
	s.listen()
	t.Cleanup(func() { s.server.Stop() })
	return s
}

// listen serves from here on.
func (s *engineServer) listen() {
	listener, server := bufconn.Listen(1<<20), grpc.NewServer(grpc.UnaryInterceptor(s.receive))
	imrpc.RegisterProxyEngineServiceServer(server, s)
	s.do(func() { s.listener, s.server = listener, server })
	go func() { _ = server.Serve(listener) }()
}

// restart ends every connection; the server is at the same address afterwards.
func (s *engineServer) restart() {
	s.server.Stop()
	s.listen()
}

func (s *engineServer) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	listener := s.listener
	s.mu.Unlock()
	return listener.DialContext(ctx)
}

// connect makes connections to the servers by their addresses.
func connect(servers map[string]*engineServer) enginepoll.Connect {
	return imclient.NewDialer(imclient.Options{Dial: func(ctx context.Context, target string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		return servers[host].dial(ctx)
	}}).Proxy
}

// receive notes every call, and fails what the test wants to fail.
func (s *engineServer) receive(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	method := info.FullMethod[strings.LastIndex(info.FullMethod, "/")+1:]
	s.mu.Lock()
	s.calls = append(s.calls, method)
	s.inside++
	s.most = max(s.most, s.inside)
	defer s.do(func() { s.inside-- })
	down, hangs, refusal := s.down, s.hangs, s.refuses[method]
	switch r := request.(type) {
	case *imrpc.ProxyEngineRequest:
		s.asked = append(s.asked, r)
	case interface {
		GetProxyEngineRequest() *imrpc.ProxyEngineRequest
	}:
		s.asked = append(s.asked, r.GetProxyEngineRequest())
	}
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
	}
	if down {
		return nil, status.Error(codes.Unavailable, "down")
	}
	if refusal != nil {
		return nil, refusal
	}
	return handler(ctx, request)
}

// do lets a test poll of, or change, the engine.
func (s *engineServer) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// called are the calls so far of these methods, or all.
func (s *engineServer) called(methods ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(m string) bool { return len(methods) > 0 && !slices.Contains(methods, m) })
}

// changes are the calls that change an engine.
func (s *engineServer) changes() []string {
	return s.called("ReplicaAdd", "ReplicaRemove", "VolumeExpand", "SnapshotClone", "BackupRestore")
}

func (s *engineServer) has(address string, mode ptypes.ReplicaMode) {
	s.do(func() { s.members = append(s.members, &member{address: "tcp://" + address, mode: mode}) })
}

func (s *engineServer) find(address string) *member {
	for _, m := range s.members {
		if m.address == address {
			return m
		}
	}
	return nil
}

// rebuilt ends the rebuild of a replica well. Without its caller a v1 replica stays WO, as on a real server.
func (s *engineServer) rebuilt(address string) {
	s.do(func() {
		m := s.find("tcp://" + address)
		m.rebuilding, m.progress = false, 100
		if !m.left {
			m.mode = ptypes.ReplicaMode_RW
		}
		close(m.done)
	})
}

func (s *engineServer) ReplicaList(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaListProxyResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &ptypes.ReplicaListReply{}
	for _, m := range s.members {
		a := &ptypes.ReplicaAddress{Address: m.address}
		if s.v2 {
			a.InstanceName = m.name
		}
		out.Replicas = append(out.Replicas, &ptypes.ControllerReplica{Address: a, Mode: m.mode})
	}
	return &imrpc.EngineReplicaListProxyResponse{ReplicaList: out}, nil
}

func (s *engineServer) SnapshotList(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotListProxyResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*imrpc.EngineSnapshotDiskInfo{}
	for name, d := range s.snapshots {
		out[name] = d
	}
	return &imrpc.EngineSnapshotListProxyResponse{Disks: out}, nil
}

func (s *engineServer) VolumeGet(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineVolumeGetProxyResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &imrpc.EngineVolumeGetProxyResponse{Volume: &ptypes.Volume{Size: s.size, IsExpanding: s.expanding,
		SnapshotMaxCount: s.limits.count, SnapshotMaxSize: s.limits.size, UnmapMarkSnapChainRemoved: s.limits.unmap}}, nil
}

func (s *engineServer) ReplicaRebuildingStatus(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaRebuildStatusProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]*ptypes.ReplicaRebuildStatusResponse{}
	for _, m := range s.members {
		if m.done != nil && m.mode == ptypes.ReplicaMode_WO { // of others a server reports nothing
			state := "in_progress"
			switch {
			case m.prepared:
				state = ""
			case !m.rebuilding:
				state = "complete"
			}
			out[m.address] = &ptypes.ReplicaRebuildStatusResponse{IsRebuilding: m.rebuilding, Progress: m.progress, State: state}
		}
	}
	return &imrpc.EngineReplicaRebuildStatusProxyResponse{Status: out}, nil
}

func (s *engineServer) SnapshotCloneStatus(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotCloneStatusProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &imrpc.EngineSnapshotCloneStatusProxyResponse{Status: s.clones}, nil
}

func (s *engineServer) BackupRestoreStatus(context.Context, *imrpc.ProxyEngineRequest) (*imrpc.EngineBackupRestoreStatusProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &imrpc.EngineBackupRestoreStatusProxyResponse{Status: s.restores}, nil
}

// refuse lets a method fail, or not any more.
func (s *engineServer) refuse(t *testing.T, method string, err error) {
	t.Helper()
	require.NotEmpty(t, method)
	s.do(func() { s.refuses[method] = err })
}
