package imclient

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

func (s *engineServer) VolumeSnapshot(ctx context.Context, r *imrpc.EngineVolumeSnapshotRequest) (*imrpc.EngineVolumeSnapshotProxyResponse,
	error) {
	return answer(ctx, s, r, &imrpc.EngineVolumeSnapshotProxyResponse{})
}

func (s *engineServer) SnapshotRemove(ctx context.Context, r *imrpc.EngineSnapshotRemoveRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) SnapshotPurge(ctx context.Context, r *imrpc.EngineSnapshotPurgeRequest) (*emptypb.Empty, error) {
	return answer(ctx, s, r, &emptypb.Empty{})
}

func (s *engineServer) SnapshotPurgeStatus(ctx context.Context, r *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotPurgeStatusProxyResponse,
	error) {
	return answer(ctx, s, r, &imrpc.EngineSnapshotPurgeStatusProxyResponse{Status: map[string]*ptypes.SnapshotPurgeStatusResponse{
		"10.0.0.6:1": {IsPurging: true, Error: "e", Progress: 4, State: "in_progress"}}})
}

func (s *engineServer) SnapshotBackup(ctx context.Context, r *imrpc.EngineSnapshotBackupRequest) (*imrpc.EngineSnapshotBackupProxyResponse,
	error) {
	return answer(ctx, s, r, &imrpc.EngineSnapshotBackupProxyResponse{Replica: "tcp://10.0.0.6:1"})
}

func (s *engineServer) SnapshotBackupStatus(ctx context.Context,
	r *imrpc.EngineSnapshotBackupStatusRequest) (*imrpc.EngineSnapshotBackupStatusProxyResponse, error) {
	return answer(ctx, s, r, &imrpc.EngineSnapshotBackupStatusProxyResponse{BackupUrl: "u", Error: "e", Progress: 4, State: "in_progress",
		ReplicaAddress: "tcp://10.0.0.6:1", SnapshotName: "s"})
}

func TestWhatAnEngineTellsOfPurgesAndBackupsIsRead(t *testing.T) {
	p := (&engineServer{}).connect(t, Options{})
	purges, err := p.Purges(t.Context(), v1Target)
	require.NoError(t, err)
	require.Equal(t, map[string]v1beta2.PurgeStatus{"tcp://10.0.0.6:1": {IsPurging: true, Error: "e", Progress: 4, State: "in_progress"}},
		purges)
	replica, err := p.BackUp(t.Context(), v1Target, BackupOrder{})
	require.NoError(t, err)
	require.Equal(t, "tcp://10.0.0.6:1", replica)
	backup, err := p.Backup(t.Context(), v1Target, "b", "")
	require.NoError(t, err)
	require.Equal(t, BackupProgress{State: "in_progress", Error: "e", URL: "u", Replica: "tcp://10.0.0.6:1", Snapshot: "s", Percent: 4},
		backup)
}

func TestAnAnswerWithoutAStateIsAboutABackupOfItsSnapshotOnly(t *testing.T) {
	for name, test := range map[string]struct {
		is   BackupProgress
		want bool
	}{
		"where the replica did not answer": {BackupProgress{Error: "Failed to get backup status on tcp://x for b", Replica: "tcp://x"}, false},
		"of another snapshot":              {BackupProgress{Snapshot: "other"}, false},
		"of the snapshot":                  {BackupProgress{Snapshot: "s"}, true},
		"with a state":                     {BackupProgress{State: "in_progress"}, true},
		"of a copy that failed":            {BackupProgress{State: "error", Error: "no space"}, true},
	} {
		require.Equal(t, test.want, test.is.Reports("s"), name)
	}
}
