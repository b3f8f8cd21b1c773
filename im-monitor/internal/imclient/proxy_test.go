package imclient

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

// engineServer answers ProxyEngineService with what a test sets, and keeps what was asked.
type engineServer struct {
	imrpc.UnimplementedProxyEngineServiceServer
	mu       sync.Mutex
	asked    proto.Message
	err      error
	block    chan struct{}
	replicas *imrpc.EngineReplicaListProxyResponse
	volume   *imrpc.EngineVolumeGetProxyResponse
	disks    *imrpc.EngineSnapshotListProxyResponse
	rebuilds *imrpc.EngineReplicaRebuildStatusProxyResponse
	clones   *imrpc.EngineSnapshotCloneStatusProxyResponse
	restores *imrpc.EngineBackupRestoreStatusProxyResponse
	// taskError is what a restore is answered with, beside OK.
	taskError string
}

// answer keeps a request, and waits when the test reports it.
func answer[A any](ctx context.Context, s *engineServer, asked proto.Message, a A) (A, error) {
	s.mu.Lock()
	s.asked = asked
	s.mu.Unlock()
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
	return a, s.err
}

func (s *engineServer) ReplicaList(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaListProxyResponse, error) {
	return answer(ctx, s, r, s.replicas)
}

func (s *engineServer) VolumeGet(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineVolumeGetProxyResponse, error) {
	return answer(ctx, s, r, s.volume)
}

func (s *engineServer) SnapshotList(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotListProxyResponse, error) {
	return answer(ctx, s, r, s.disks)
}

func (s *engineServer) ReplicaRebuildingStatus(ctx context.Context,
	r *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaRebuildStatusProxyResponse, error) {
	return answer(ctx, s, r, s.rebuilds)
}

func (s *engineServer) SnapshotCloneStatus(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotCloneStatusProxyResponse,
	error) {
	return answer(ctx, s, r, s.clones)
}

func (s *engineServer) BackupRestoreStatus(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineBackupRestoreStatusProxyResponse,
	error) {
	return answer(ctx, s, r, s.restores)
}

func (s *engineServer) ReplicaAdd(ctx context.Context, r *imrpc.EngineReplicaAddRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) ReplicaRemove(ctx context.Context, r *imrpc.EngineReplicaRemoveRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) VolumeExpand(ctx context.Context, r *imrpc.EngineVolumeExpandRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) SnapshotClone(ctx context.Context, r *imrpc.EngineSnapshotCloneRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) BackupRestore(ctx context.Context, r *imrpc.EngineBackupRestoreRequest) (*imrpc.EngineBackupRestoreProxyResponse,
	error) {
	return answer(ctx, s, r, &imrpc.EngineBackupRestoreProxyResponse{TaskError: []byte(s.taskError)})
}

// connect serves in memory at the port of the proxy service, and connects to it.
func (s *engineServer) connect(t *testing.T, options Options) *Proxy {
	t.Helper()
	server, listener := grpc.NewServer(), bufconn.Listen(1<<20)
	imrpc.RegisterProxyEngineServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	options.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		if address != "10.0.0.1:8501" {
			return nil, net.ErrClosed
		}
		return listener.DialContext(ctx)
	}
	proxy, err := NewDialer(options).Proxy("10.0.0.1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	return proxy
}

var (
	v1Target  = Target{Address: "10.0.0.5:10000", Engine: "e-1", Volume: "vol", DataEngine: "v1"}
	v1Request = &imrpc.ProxyEngineRequest{Address: "10.0.0.5:10000", EngineName: "e-1", VolumeName: "vol"}
	v2Target  = Target{Address: "10.0.0.5:20000", Engine: "e-2", Volume: "vol", Frontend: "ef-2", DataEngine: "v2"}
	v2Request = &imrpc.ProxyEngineRequest{Address: "10.0.0.5:20000", EngineName: "e-2", VolumeName: "vol", EngineFrontendName: "ef-2",
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2}
)

func TestCallsToEnginesGoOutInTheWordsOfTheContract(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(context.Context, *Proxy) error
		want proto.Message
	}{
		{"a question to a v1 engine names it, its volume and its address",
			func(ctx context.Context, p *Proxy) error { _, err := p.Replicas(ctx, v1Target); return err }, v1Request},
		{"a question to a v2 engine names its frontend, too",
			func(ctx context.Context, p *Proxy) error { _, err := p.Snapshots(ctx, v2Target); return err }, v2Request},
		{"an addition", func(ctx context.Context, p *Proxy) error {
			return p.AddReplica(ctx, v1Target, Addition{Name: "r-1", Address: "10.0.0.6:10010", Size: 5})
		}, &imrpc.EngineReplicaAddRequest{ProxyEngineRequest: v1Request, ReplicaName: "r-1", ReplicaAddress: "tcp://10.0.0.6:10010",
			Size: 5, CurrentSize: 5,
			FastSync: true, FileSyncHttpClientTimeout: 30}},
		{"a removal by name and address", func(ctx context.Context,
			p *Proxy) error {
			return p.RemoveReplica(ctx, v2Target, "r-1", "10.0.0.6:1")
		},
			&imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: v2Request, ReplicaName: "r-1", ReplicaAddress: "tcp://10.0.0.6:1"}},
		{"an address that has its scheme keeps it", func(ctx context.Context, p *Proxy) error {
			return p.RemoveReplica(ctx, v1Target, "", "tcp://10.0.0.6:1")
		},
			&imrpc.EngineReplicaRemoveRequest{ProxyEngineRequest: v1Request, ReplicaAddress: "tcp://10.0.0.6:1"}},
		{"an expansion", func(ctx context.Context, p *Proxy) error { return p.Expand(ctx, v2Target, 7) },
			&imrpc.EngineVolumeExpandRequest{ProxyEngineRequest: v2Request, Expand: &ptypes.VolumeExpandRequest{Size: 7}}},
		{"a copy from another engine", func(ctx context.Context, p *Proxy) error {
			return p.CloneFrom(ctx, v1Target, Target{Address: "10.0.0.9:1", Engine: "e-9", Volume: "other"}, "snap")
		}, &imrpc.EngineSnapshotCloneRequest{ProxyEngineRequest: v1Request, FromEngineAddress: "10.0.0.9:1", FromEngineName: "e-9",
			FromVolumeName: "other",
			SnapshotName:   "snap", FileSyncHttpClientTimeout: 30}},
		{"a restore names the target and the whole URL", func(ctx context.Context, p *Proxy) error {
			return p.Restore(ctx, v1Target, RestoreOrder{URL: "s3://bucket@region/?backup=b&volume=v", Concurrency: 3})
		}, &imrpc.EngineBackupRestoreRequest{ProxyEngineRequest: v1Request, Url: "s3://bucket@region/?backup=b&volume=v",
			Target:     "s3://bucket@region/",
			VolumeName: "vol", ConcurrentLimit: 3}},
		{"a snapshot", func(ctx context.Context, p *Proxy) error {
			return p.CreateSnapshot(ctx, v2Target, "s-1", map[string]string{"a": "b"})
		},
			&imrpc.EngineVolumeSnapshotRequest{ProxyEngineRequest: v2Request,
				SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: "s-1", Labels: map[string]string{"a": "b"}}}},
		{"a removal of snapshots", func(ctx context.Context, p *Proxy) error {
			return p.RemoveSnapshots(ctx, v1Target, []string{"s-1", "s-2"})
		},
			&imrpc.EngineSnapshotRemoveRequest{ProxyEngineRequest: v1Request, Names: []string{"s-1", "s-2"}}},
		{"a purge", func(ctx context.Context, p *Proxy) error { return p.PurgeSnapshots(ctx, v1Target) },
			&imrpc.EngineSnapshotPurgeRequest{ProxyEngineRequest: v1Request, SkipIfInProgress: true}},
		{"a question about a purge", func(ctx context.Context, p *Proxy) error { _, err := p.Purges(ctx, v1Target); return err },
			v1Request},
		{"a backup", func(ctx context.Context, p *Proxy) error {
			_, err := p.BackUp(ctx, v1Target, BackupOrder{Name: "b-1", Snapshot: "s-1", TargetURL: "file:///b",
				Labels: map[string]string{"a": "b"}, Compression: "lz4", Concurrency: 4, StorageClass: "class",
				BackingImage: "image", BackingImageChecksum: "sum"})
			return err
		}, &imrpc.EngineSnapshotBackupRequest{ProxyEngineRequest: v1Request, BackupName: "b-1", SnapshotName: "s-1",
			BackupTarget: "file:///b",
			Labels:       map[string]string{"a": "b"}, CompressionMethod: "lz4", ConcurrentLimit: 4, StorageClassName: "class",
			BackingImageName: "image", BackingImageChecksum: "sum"}},
		{"a question about a backup", func(ctx context.Context, p *Proxy) error {
			_, err := p.Backup(ctx, v1Target, "b-1", "tcp://x")
			return err
		},
			&imrpc.EngineSnapshotBackupStatusRequest{ProxyEngineRequest: v1Request, BackupName: "b-1", ReplicaAddress: "tcp://x"}},
		{"a v2 engine is asked about a backup by the address of the replica as it was started with it", func(ctx context.Context,
			p *Proxy) error {
			_, err := p.Backup(ctx, v2Target, "b-1", "tcp://10.0.0.6:1")
			return err
		},
			&imrpc.EngineSnapshotBackupStatusRequest{ProxyEngineRequest: v2Request, BackupName: "b-1", ReplicaAddress: "10.0.0.6:1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &engineServer{}
			require.NoError(t, c.call(t.Context(), s.connect(t, Options{})))
			require.True(t, proto.Equal(c.want, s.asked), "%v", s.asked)
		})
	}
}

func TestWhatAnEngineTellsIsRead(t *testing.T) {
	s := &engineServer{
		replicas: &imrpc.EngineReplicaListProxyResponse{ReplicaList: &ptypes.ReplicaListReply{Replicas: []*ptypes.ControllerReplica{
			{Address: &ptypes.ReplicaAddress{Address: "10.0.0.6:1", InstanceName: "r-1"}, Mode: ptypes.ReplicaMode_WO},
			{Address: &ptypes.ReplicaAddress{Address: "tcp://10.0.0.7:1"}, Mode: ptypes.ReplicaMode_RW},
			{Address: &ptypes.ReplicaAddress{Address: "tcp://10.0.0.8:1"}, Mode: ptypes.ReplicaMode_ERR},
		}}},
		volume: &imrpc.EngineVolumeGetProxyResponse{Volume: &ptypes.Volume{Size: 5, Endpoint: "/dev/x", IsExpanding: true,
			LastExpansionError:    "no",
			LastExpansionFailedAt: "then", SnapshotMaxCount: 3, SnapshotMaxSize: 9, UnmapMarkSnapChainRemoved: true}},
		disks: &imrpc.EngineSnapshotListProxyResponse{Disks: map[string]*imrpc.EngineSnapshotDiskInfo{"one": {Name: "one", Parent: "zero",
			Children: map[string]bool{"volume-head": true}, Removed: true, UserCreated: true, Created: "then", Size: "4096",
			Labels: map[string]string{"a": "b"}}}},
		rebuilds: &imrpc.EngineReplicaRebuildStatusProxyResponse{
			Status: map[string]*ptypes.ReplicaRebuildStatusResponse{"10.0.0.6:1": {IsRebuilding: true,
				Error: "e", Progress: 4, State: "in_progress", FromReplicaAddress: "tcp://x",
				FromReplicaAddressList: []string{"tcp://x"}}}},
		clones: &imrpc.EngineSnapshotCloneStatusProxyResponse{
			Status: map[string]*ptypes.SnapshotCloneStatusResponse{"tcp://10.0.0.6:1": {IsCloning: true,
				Error: "e", Progress: 4, State: "in_progress", FromReplicaAddress: "tcp://x", SnapshotName: "snap"}}},
		restores: &imrpc.EngineBackupRestoreStatusProxyResponse{
			Status: map[string]*imrpc.EngineBackupRestoreStatus{"tcp://10.0.0.6:1": {IsRestoring: true,
				LastRestored: "b-0", CurrentRestoringBackup: "b-1", Progress: 4, Error: "e", Filename: "f", State: "in_progress",
				BackupUrl: "u"}}},
	}
	p := s.connect(t, Options{})
	replicas, err := p.Replicas(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, []EngineReplica{{"r-1", "tcp://10.0.0.6:1", v1beta2.ReplicaModeWO}, {"", "tcp://10.0.0.7:1", v1beta2.ReplicaModeRW},
		{"", "tcp://10.0.0.8:1", v1beta2.ReplicaModeERR}}, replicas)
	volume, err := p.Volume(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, EngineVolume{Size: 5, Endpoint: "/dev/x", Expanding: true, ExpansionError: "no", ExpansionEnd: "then",
		SnapshotMaxCount: 3, SnapshotMaxSize: 9,
		UnmapMarkSnapChainRemoved: true}, volume)
	snapshots, err := p.Snapshots(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, map[string]v1beta2.SnapshotInfo{"one": {Name: "one", Parent: "zero", Children: map[string]bool{"volume-head": true},
		Removed:     true,
		UserCreated: true, Created: "then", Size: "4096", Labels: map[string]string{"a": "b"}}}, snapshots)
	rebuilds, err := p.Rebuilds(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, map[string]v1beta2.RebuildStatus{"tcp://10.0.0.6:1": {IsRebuilding: true, Error: "e", Progress: 4,
		State:              "in_progress",
		FromReplicaAddress: "tcp://x", FromReplicaAddressList: []string{"tcp://x"}}}, rebuilds)
	clones, err := p.Clones(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, map[string]v1beta2.SnapshotCloneStatus{"tcp://10.0.0.6:1": {IsCloning: true, Error: "e", Progress: 4,
		State:              "in_progress",
		FromReplicaAddress: "tcp://x", SnapshotName: "snap"}}, clones)
	restores, err := p.Restores(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, map[string]v1beta2.RestoreStatus{"tcp://10.0.0.6:1": {IsRestoring: true, LastRestored: "b-0",
		CurrentRestoringBackup: "b-1", Progress: 4,
		Error: "e", Filename: "f", State: "in_progress", BackupURL: "u"}}, restores)
}

func TestAnEngineThatTellsNothingIsReadAsEmptyNotAsUnknown(t *testing.T) {
	p := (&engineServer{}).connect(t, Options{})
	snapshots, err := p.Snapshots(t.Context(), v1Target)
	require.NoError(t, err)
	require.NotNil(t, snapshots)
	clones, err := p.Clones(t.Context(), v1Target)
	require.NoError(t, err)
	require.NotNil(t, clones)
	restores, err := p.Restores(t.Context(), v1Target)
	require.NoError(t, err)
	require.NotNil(t, restores)
	require.Empty(t, len(snapshots)+len(clones)+len(restores))
}

func TestEveryCallToAnEngineTellsHowItFailed(t *testing.T) {
	calls := map[string]func(context.Context, *Proxy) error{
		"ReplicaList":             func(ctx context.Context, p *Proxy) error { _, err := p.Replicas(ctx, v1Target); return err },
		"VolumeGet":               func(ctx context.Context, p *Proxy) error { _, err := p.Volume(ctx, v1Target); return err },
		"SnapshotList":            func(ctx context.Context, p *Proxy) error { _, err := p.Snapshots(ctx, v1Target); return err },
		"ReplicaRebuildingStatus": func(ctx context.Context, p *Proxy) error { _, err := p.Rebuilds(ctx, v1Target); return err },
		"SnapshotCloneStatus":     func(ctx context.Context, p *Proxy) error { _, err := p.Clones(ctx, v1Target); return err },
		"BackupRestoreStatus":     func(ctx context.Context, p *Proxy) error { _, err := p.Restores(ctx, v1Target); return err },
		"ReplicaAdd":              func(ctx context.Context, p *Proxy) error { return p.AddReplica(ctx, v1Target, Addition{}) },
		"ReplicaRemove":           func(ctx context.Context, p *Proxy) error { return p.RemoveReplica(ctx, v1Target, "r", "a") },
		"VolumeExpand":            func(ctx context.Context, p *Proxy) error { return p.Expand(ctx, v1Target, 1) },
		"SnapshotClone":           func(ctx context.Context, p *Proxy) error { return p.CloneFrom(ctx, v1Target, v2Target, "s") },
		"VolumeSnapshot":          func(ctx context.Context, p *Proxy) error { return p.CreateSnapshot(ctx, v1Target, "s", nil) },
		"SnapshotRemove":          func(ctx context.Context, p *Proxy) error { return p.RemoveSnapshots(ctx, v1Target, []string{"s"}) },
		"SnapshotPurge":           func(ctx context.Context, p *Proxy) error { return p.PurgeSnapshots(ctx, v1Target) },
		"SnapshotPurgeStatus":     func(ctx context.Context, p *Proxy) error { _, err := p.Purges(ctx, v1Target); return err },
		"SnapshotBackup": func(ctx context.Context, p *Proxy) error {
			_, err := p.BackUp(ctx, v1Target, BackupOrder{})
			return err
		},
		"SnapshotBackupStatus": func(ctx context.Context, p *Proxy) error { _, err := p.Backup(ctx, v1Target, "b", ""); return err },
		"BackupRestore":        func(ctx context.Context, p *Proxy) error { return p.Restore(ctx, v1Target, RestoreOrder{URL: "u"}) },
	}
	s := &engineServer{}
	p := s.connect(t, Options{})
	for name, call := range calls {
		for code, want := range map[codes.Code]error{codes.Unavailable: ErrUnreachable, codes.NotFound: ErrNotFound,
			codes.Unknown: ErrFailed, codes.Unimplemented: ErrUnsupported} {
			s.err = status.Error(code, "no")
			err := call(t.Context(), p)
			require.ErrorIs(t, err, want, name)
			require.ErrorContains(t, err, name)
		}
	}
}

func TestQuestionsAndShortCallsEndWithTheirTimeAndAnAdditionOnlyWithItsCaller(t *testing.T) {
	s := &engineServer{block: make(chan struct{})}
	p := s.connect(t, Options{ListTimeout: 20 * time.Millisecond, LifecycleTimeout: 20 * time.Millisecond})
	_, err := p.Replicas(t.Context(), v1Target)
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorIs(t, p.Expand(t.Context(), v1Target, 1), ErrUnreachable)

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.AddReplica(ctx, v1Target, Addition{Name: "r-1"}) }()
	require.Never(t, func() bool { return len(ended) > 0 }, 200*time.Millisecond, 10*time.Millisecond, "no deadline of its own")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestAProxyNeedsTheAddressOfAMachine(t *testing.T) {
	for _, address := range []string{"", "localhost", "10.0.0.1:8501"} {
		_, err := NewDialer(Options{}).Proxy(address)
		require.Error(t, err, address)
	}
}

// mutable is a transport that reports no error and delivers nothing any more once it is muted.
type mutable struct {
	net.Conn
	muted *atomic.Bool
}

func (m mutable) Write(b []byte) (int, error) {
	if m.muted.Load() {
		return len(b), nil
	}
	return m.Conn.Write(b)
}

// serveProxy starts a server of one engine, and returns how it is dialled.
func serveProxy(t *testing.T, s *engineServer) (server *grpc.Server, dial func(context.Context, string) (net.Conn, error)) {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server = grpc.NewServer()
	imrpc.RegisterProxyEngineServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return server, func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
}

func TestAnEngineThatDoesNotAnswerIsNoLossOfTheTransport(t *testing.T) {
	s := &engineServer{}
	server, dial := serveProxy(t, s)
	p, err := NewDialer(Options{Dial: dial, ListTimeout: 50 * time.Millisecond}).Proxy("10.0.0.1")
	require.NoError(t, err)
	unanswered := func() {
		t.Helper()
		_, err := p.Replicas(t.Context(), v1Target)
		require.ErrorIs(t, err, ErrUnreachable)
	}
	s.err = status.Error(codes.Unavailable, "the server cannot reach the engine")
	unanswered()
	require.False(t, p.Lost(), "the server answers that it cannot reach it")
	s.block = make(chan struct{})
	unanswered()
	require.False(t, p.Lost(), "the engine hangs")
	server.Stop()
	unanswered()
	require.True(t, p.Lost())

	nobody, err := NewDialer(Options{ListTimeout: 50 * time.Millisecond,
		Dial: func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }}).Proxy("10.0.0.1")
	require.NoError(t, err)
	_, err = nobody.Replicas(t.Context(), v1Target)
	require.ErrorIs(t, err, ErrUnreachable)
	require.True(t, nobody.Lost(), "it never was")
}

// gRPC pings at least 10 s apart.
func TestTheKeepaliveNoticesAPeerThatIsDead(t *testing.T) {
	t.Parallel()
	s, muted := &engineServer{}, &atomic.Bool{}
	_, dial := serveProxy(t, s)
	d := NewDialer(Options{ListTimeout: 800 * time.Millisecond, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		c, err := dial(ctx, address)
		return mutable{c, muted}, err
	}})
	d.keepalive = keepalive.ClientParameters{Time: 10 * time.Second, Timeout: time.Second}
	p, err := d.Proxy("10.0.0.1")
	require.NoError(t, err)
	_, err = p.Replicas(t.Context(), v1Target)
	require.NoError(t, err)
	muted.Store(true)
	for began := time.Now(); !p.Lost(); {
		require.Less(t, time.Since(began), 20*time.Second)
		_, err := p.Replicas(t.Context(), v1Target)
		require.ErrorIs(t, err, ErrUnreachable)
		time.Sleep(200 * time.Millisecond) // between two polls
	}
}
