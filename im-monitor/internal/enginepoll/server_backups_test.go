package enginepoll_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// copyWork is what the scripted engine keeps of backups and of going back.
type copyWork struct {
	orders   []*imrpc.EngineSnapshotBackupRequest
	percent  map[string]int32
	copier   map[string]*member
	reverted []string
	// waits is how long the caller of SnapshotBackupStatus waited for an answer at most; hangs lets it wait that long.
	waits time.Duration
	hangs bool
	// unreached has the error with which the engine cannot reach the target: it refuses, and reports the backup as failed.
	unreached string
	// deaf is how many questions about a backup do not reach the replica that copies.
	deaf int
}

func (s *engineServer) SnapshotBackup(_ context.Context, r *imrpc.EngineSnapshotBackupRequest) (*imrpc.EngineSnapshotBackupProxyResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copies.orders = append(s.copies.orders, r)
	copier := s.readable()
	if copier == nil {
		return nil, status.Error(codes.Unknown, "cannot find an available replica for backup")
	}
	s.copies.percent = with(s.copies.percent, r.GetBackupName(), 50)
	s.copies.copier = with(s.copies.copier, r.GetBackupName(), copier)
	where := copier.address
	if s.v2 {
		where = strings.TrimPrefix(where, "tcp://")
	}
	if s.copies.unreached != "" {
		return nil, status.Error(codes.Unknown, s.copies.unreached)
	}
	return &imrpc.EngineSnapshotBackupProxyResponse{BackupId: r.GetBackupName(), Replica: where}, s.answered("SnapshotBackup")
}

func with[V any](m map[string]V, key string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = v
	return m
}

// readable is the first replica in mode RW.
func (s *engineServer) readable() *member {
	for _, m := range s.members {
		if m.mode == ptypes.ReplicaMode_RW {
			return m
		}
	}
	return nil
}

// asksAbout is the replica that a question about a backup goes to. A v2 engine knows its replicas by addresses without a scheme, and finds
// none without an address.
func (s *engineServer) asksAbout(where string) (*member, error) {
	if !s.v2 {
		if where == "" {
			return s.readable(), nil
		}
		return s.find(where), nil
	}
	m := s.find("tcp://" + where)
	switch {
	case m == nil:
		return nil, status.Errorf(codes.Internal, "failed to get backup status: replica address %s is not found in engine", where)
	case m.mode != ptypes.ReplicaMode_RW:
		return nil, status.Errorf(codes.Internal, "failed to get backup status: replica %s is not in RW mode", m.name)
	}
	return m, nil
}

// unreported is what a v1 server answers where it has no answer of the replica, or where that one does not know the backup: OK.
func unreported(r *imrpc.EngineSnapshotBackupStatusRequest, at *member, why string) *imrpc.EngineSnapshotBackupStatusProxyResponse {
	where := cmp.Or(r.GetReplicaAddress(), at.address)
	return &imrpc.EngineSnapshotBackupStatusProxyResponse{ReplicaAddress: where,
		Error: fmt.Sprintf("Failed to get backup status on %s for %s: %s", where, r.GetBackupName(), why)}
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
	m, err := s.asksAbout(r.GetReplicaAddress())
	if err != nil {
		return nil, err
	}
	percent, known := s.copies.percent[r.GetBackupName()]
	switch {
	case known && s.copies.copier[r.GetBackupName()] == m:
	case s.v2:
		return nil, status.Errorf(codes.Internal, "failed to get backup status: cannot find backup %s", r.GetBackupName())
	default:
		return unreported(r, m, "backup not found"), nil
	}
	if s.copies.deaf > 0 {
		s.copies.deaf--
		return unreported(r, m, "rpc error: code = Unavailable desc = connection reset by peer"), nil
	}
	s.copies.percent[r.GetBackupName()] = 100
	out := &imrpc.EngineSnapshotBackupStatusProxyResponse{Progress: percent, State: "in_progress", ReplicaAddress: m.address,
		SnapshotName: s.copies.orders[len(s.copies.orders)-1].GetSnapshotName()}
	if s.copies.unreached != "" {
		out.State, out.Error, out.Progress = "error", s.copies.unreached, 0
		return out, nil
	}
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
