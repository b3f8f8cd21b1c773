package enginepoll_test

import (
	"context"
	"net/url"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// ReplicaAdd leaves the replica WO when its caller disconnects, and continues only if the copy has begun.
func (s *engineServer) ReplicaAdd(ctx context.Context, r *imrpc.EngineReplicaAddRequest) (*emptypb.Empty, error) {
	m := &member{name: r.GetReplicaName(), address: r.GetReplicaAddress(), mode: ptypes.ReplicaMode_WO, done: make(chan struct{})}
	s.mu.Lock()
	m.prepared, m.rebuilding = s.prepares, !s.prepares
	if s.find(m.address) != nil {
		s.mu.Unlock()
		return nil, status.Error(codes.Unknown, "the replica is there already")
	}
	if s.full() {
		s.mu.Unlock()
		return nil, status.Error(codes.Unknown, "too many snapshots created")
	}
	s.members = append(s.members, m)
	s.joined = append(s.joined, m.name)
	v2 := s.v2
	s.mu.Unlock()
	if v2 {
		return &emptypb.Empty{}, nil
	}
	select {
	case <-m.done:
		return &emptypb.Empty{}, nil
	case <-ctx.Done():
		s.do(func() {
			s.cut++
			m.left = m.rebuilding || m.prepared
		})
		return nil, ctx.Err()
	}
}

func (s *engineServer) ReplicaRemove(_ context.Context, r *imrpc.EngineReplicaRemoveRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members = slices.DeleteFunc(s.members, func(m *member) bool { return m.address == r.GetReplicaAddress() })
	return &emptypb.Empty{}, nil
}

func (s *engineServer) VolumeExpand(_ context.Context, r *imrpc.EngineVolumeExpandRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.limits.silent {
		s.size = r.GetExpand().GetSize()
	}
	return &emptypb.Empty{}, nil
}

func (s *engineServer) SnapshotClone(_ context.Context, r *imrpc.EngineSnapshotCloneRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clonedBy = append(s.clonedBy, r)
	s.clones = map[string]*ptypes.SnapshotCloneStatusResponse{}
	for _, m := range s.members {
		s.clones[m.address] = &ptypes.SnapshotCloneStatusResponse{State: "complete", Progress: 100, SnapshotName: r.GetSnapshotName()}
	}
	return &emptypb.Empty{}, nil
}

func (s *engineServer) BackupRestore(_ context.Context, r *imrpc.EngineBackupRestoreRequest) (*imrpc.EngineBackupRestoreProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restored = append(s.restored, r)
	s.restores = map[string]*imrpc.EngineBackupRestoreStatus{}
	if s.taskError != "" {
		for _, m := range s.members { // as v1 lists replicas that restored nothing
			s.restores[m.address] = &imrpc.EngineBackupRestoreStatus{}
		}
		return &imrpc.EngineBackupRestoreProxyResponse{TaskError: []byte(s.taskError)}, nil
	}
	u, err := url.Parse(r.GetUrl())
	if err != nil {
		return nil, err
	}
	for _, m := range s.members {
		s.restores[m.address] = &imrpc.EngineBackupRestoreStatus{State: "complete", Progress: 100,
			LastRestored: u.Query().Get("backup"), BackupUrl: r.GetUrl()}
	}
	return &imrpc.EngineBackupRestoreProxyResponse{}, nil
}
