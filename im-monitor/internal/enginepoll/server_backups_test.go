package enginepoll_test

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// copyWork is what the scripted engine keeps of backups and of going back.
type copyWork struct {
	orders   []*imrpc.EngineSnapshotBackupRequest
	percent  map[string]int32
	reverted []string
	// waits is how long the caller of SnapshotBackupStatus waited for an answer at most; hangs lets it wait that long.
	waits time.Duration
	hangs bool
}

func (s *engineServer) SnapshotBackup(_ context.Context, r *imrpc.EngineSnapshotBackupRequest) (*imrpc.EngineSnapshotBackupProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copies.orders = append(s.copies.orders, r)
	if s.copies.percent == nil {
		s.copies.percent = map[string]int32{}
	}
	s.copies.percent[r.GetBackupName()] = 50
	return &imrpc.EngineSnapshotBackupProxyResponse{BackupId: r.GetBackupName(), Replica: addresses[first]}, s.answered("SnapshotBackup")
}

// SnapshotBackupStatus reports of a backup half done the first time that it is asked, and then of a whole one.
func (s *engineServer) SnapshotBackupStatus(ctx context.Context,
	r *imrpc.EngineSnapshotBackupStatusRequest) (*imrpc.EngineSnapshotBackupStatusProxyResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, ok := ctx.Deadline(); ok {
		s.copies.waits = max(s.copies.waits, time.Until(until))
	}
	if s.copies.hangs {
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return nil, ctx.Err()
	}
	percent, known := s.copies.percent[r.GetBackupName()]
	if !known {
		return nil, status.Error(codes.NotFound, "no such backup")
	}
	s.copies.percent[r.GetBackupName()] = 100
	out := &imrpc.EngineSnapshotBackupStatusProxyResponse{Progress: percent, State: "in_progress", ReplicaAddress: addresses[first]}
	if percent == 100 {
		out.State, out.BackupUrl = "complete", "nfs://server/path?backup="+r.GetBackupName()
	}
	return out, nil
}

func (s *engineServer) SnapshotRevert(_ context.Context, r *imrpc.EngineSnapshotRevertRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshots[r.GetName()] == nil {
		return nil, status.Error(codes.Unknown, "no such snapshot")
	}
	s.copies.reverted = append(s.copies.reverted, r.GetName())
	return &emptypb.Empty{}, s.answered("SnapshotRevert")
}
