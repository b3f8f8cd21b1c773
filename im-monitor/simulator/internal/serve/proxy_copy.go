package serve

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// SnapshotClone copies a snapshot of another volume into this one.
func (s *proxyService) SnapshotClone(ctx context.Context, in *imrpc.EngineSnapshotCloneRequest) (*emptypb.Empty, error) {
	fails := s.servers.failsLater(ctx, "SnapshotClone")
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Clone(refOf(in.GetProxyEngineRequest()),
			dataplane.Source{Address: in.GetFromEngineAddress(), Engine: in.GetFromEngineName(),
				Volume: in.GetFromVolumeName(), Snapshot: in.GetSnapshotName()}, fails)
	})
}

// SnapshotCloneStatus reports how far the last clone is, by replica.
func (s *proxyService) SnapshotCloneStatus(ctx context.Context,
	in *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotCloneStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.CloneStatus(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineSnapshotCloneStatusProxyResponse{Status: map[string]*ptypes.SnapshotCloneStatusResponse{}}
	for where, c := range list {
		out.Status["tcp://"+where] = &ptypes.SnapshotCloneStatusResponse{IsCloning: c.Running, Error: c.Error, Progress: c.Percent,
			State:              c.State,
			FromReplicaAddress: "tcp://" + c.From, SnapshotName: c.Snapshot}
	}
	return out, nil
}

// SnapshotBackup begins to copy a snapshot into a backup target.
func (s *proxyService) SnapshotBackup(ctx context.Context, in *imrpc.EngineSnapshotBackupRequest) (*imrpc.EngineSnapshotBackupProxyResponse,
	error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	name, replica, incremental, err := server.Backup(refOf(in.GetProxyEngineRequest()), dataplane.Order{Name: in.GetBackupName(),
		Snapshot: in.GetSnapshotName(), Target: in.GetBackupTarget(), Labels: in.GetLabels(),
		Fails: s.servers.failsLater(ctx, "SnapshotBackup")})
	if err != nil {
		return nil, failure(err)
	}
	if in.GetProxyEngineRequest().GetDataEngine() != imrpc.DataEngine_DATA_ENGINE_V2 {
		replica = "tcp://" + replica
	}
	return &imrpc.EngineSnapshotBackupProxyResponse{BackupId: name, Replica: replica, IsIncremental: incremental}, nil
}

// SnapshotBackupStatus reports how far a backup is.
func (s *proxyService) SnapshotBackupStatus(ctx context.Context,
	in *imrpc.EngineSnapshotBackupStatusRequest) (*imrpc.EngineSnapshotBackupStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	b, err := server.BackupStatus(refOf(in.GetProxyEngineRequest()), in.GetBackupName(), in.GetReplicaAddress())
	if err != nil {
		return nil, failure(err)
	}
	return &imrpc.EngineSnapshotBackupStatusProxyResponse{BackupUrl: b.URL, Error: b.Error, Progress: b.Percent, SnapshotName: b.Snapshot,
		State:          b.State,
		ReplicaAddress: "tcp://" + b.Replica}, nil
}

// BackupRestore begins to copy a backup into the volume.
func (s *proxyService) BackupRestore(ctx context.Context, in *imrpc.EngineBackupRestoreRequest) (*imrpc.EngineBackupRestoreProxyResponse,
	error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	fails := s.servers.failsLater(ctx, "BackupRestore")
	err = server.Restore(refOf(in.GetProxyEngineRequest()), in.GetUrl(), in.GetTarget(), fails)
	var task *dataplane.TaskError
	if errors.As(err, &task) {
		return &imrpc.EngineBackupRestoreProxyResponse{TaskError: task.Text()}, nil
	}
	if err != nil {
		return nil, failure(err)
	}
	return &imrpc.EngineBackupRestoreProxyResponse{}, nil
}

// BackupRestoreStatus reports how far the last restore is, by replica.
func (s *proxyService) BackupRestoreStatus(ctx context.Context,
	in *imrpc.ProxyEngineRequest) (*imrpc.EngineBackupRestoreStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.RestoreStatus(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineBackupRestoreStatusProxyResponse{Status: map[string]*imrpc.EngineBackupRestoreStatus{}}
	for where, r := range list {
		out.Status["tcp://"+where] = &imrpc.EngineBackupRestoreStatus{IsRestoring: r.Running, LastRestored: r.Last,
			CurrentRestoringBackup: r.Current,
			Progress:               r.Percent, Error: r.Error, State: r.State, BackupUrl: r.URL}
	}
	return out, nil
}
