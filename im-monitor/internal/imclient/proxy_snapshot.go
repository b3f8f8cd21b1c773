package imclient

import (
	"context"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/shared/api/v1beta2"
)

// CreateSnapshot takes a snapshot. v2 drops the labels; a name that is taken is an error.
func (p *Proxy) CreateSnapshot(ctx context.Context, t Target, name string, labels map[string]string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.VolumeSnapshot(ctx, &imrpc.EngineVolumeSnapshotRequest{
		ProxyEngineRequest: t.request(), SnapshotVolume: &ptypes.VolumeSnapshotRequest{Name: name, Labels: labels},
	})
	return callError(ctx, "VolumeSnapshot", p.address, err)
}

// RemoveSnapshots removes snapshots: v1 marks them for the next purge, v2 merges them at once.
func (p *Proxy) RemoveSnapshots(ctx context.Context, t Target, names []string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.SnapshotRemove(ctx, &imrpc.EngineSnapshotRemoveRequest{ProxyEngineRequest: t.request(), Names: names})
	return callError(ctx, "SnapshotRemove", p.address, err)
}

// PurgeSnapshots lets the engine merge what is marked removed. One that purges already continues with that.
func (p *Proxy) PurgeSnapshots(ctx context.Context, t Target) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.SnapshotPurge(ctx, &imrpc.EngineSnapshotPurgeRequest{ProxyEngineRequest: t.request(), SkipIfInProgress: true})
	return callError(ctx, "SnapshotPurge", p.address, err)
}

// Revert lets the volume have the content of a snapshot again. A v1 engine must have no frontend.
func (p *Proxy) Revert(ctx context.Context, t Target, snapshot string) error {
	ctx, cancel := p.change(ctx)
	defer cancel()
	_, err := p.service.SnapshotRevert(ctx, &imrpc.EngineSnapshotRevertRequest{ProxyEngineRequest: t.request(), Name: snapshot})
	return callError(ctx, "SnapshotRevert", p.address, err)
}

// Purges reports how far the last purge is, by the address of the replica; v2 never reports.
func (p *Proxy) Purges(ctx context.Context, t Target) (map[string]v1beta2.PurgeStatus, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	answer, err := p.service.SnapshotPurgeStatus(ctx, t.request())
	if err != nil {
		return nil, callError(ctx, "SnapshotPurgeStatus", p.address, err)
	}
	out := map[string]v1beta2.PurgeStatus{}
	for where, s := range answer.GetStatus() {
		out[WithScheme(where)] = v1beta2.PurgeStatus{IsPurging: s.GetIsPurging(), Error: inWords(s.GetError()),
			Progress: int(s.GetProgress()), State: s.GetState()}
	}
	return out, nil
}

// BackupOrder is one backup that an engine must take.
type BackupOrder struct {
	// Name is the backup's, Snapshot what is copied, TargetURL where to.
	Name, Snapshot, TargetURL string
	Labels                    map[string]string
	// Compression is a method, such as lz4.
	Compression string
	// Concurrency is how many blocks are copied at once.
	Concurrency int
	// StorageClass is the volume's; BackingImage and its checksum are those of a v1 volume that starts from one. Each may be empty.
	StorageClass, BackingImage, BackingImageChecksum string
	// Parameters are those of the backup mode and the block size.
	Parameters map[string]string
	// Credentials are environment variables, as KEY=VALUE.
	Credentials []string
}

// BackUp lets the engine begin to copy a snapshot into a target, and reports which replica (tcp://ip:port) does it.
func (p *Proxy) BackUp(ctx context.Context, t Target, o BackupOrder) (replica string, err error) {
	ctx, cancel := p.change(ctx)
	defer cancel()
	answer, err := p.service.SnapshotBackup(ctx, &imrpc.EngineSnapshotBackupRequest{
		ProxyEngineRequest: t.request(), BackupName: o.Name, SnapshotName: o.Snapshot, BackupTarget: o.TargetURL, Labels: o.Labels,
		CompressionMethod: o.Compression, ConcurrentLimit: int32(o.Concurrency), Parameters: o.Parameters, Envs: o.Credentials,
		StorageClassName: o.StorageClass, BackingImageName: o.BackingImage, BackingImageChecksum: o.BackingImageChecksum,
	})
	if err != nil {
		return "", callError(ctx, "SnapshotBackup", p.address, err)
	}
	return WithScheme(cut(answer.GetReplica())), nil
}

// BackupProgress is how far a backup of a snapshot is.
type BackupProgress struct {
	State, Error, URL, Replica, Snapshot string
	Percent                              int
}

// Reports is whether the answer is about a backup of that snapshot. A v1 server that got no answer of the replica, or whose replica does
// not know the backup, answers with OK, an error, and neither a state nor a snapshot.
func (b BackupProgress) Reports(snapshot string) bool {
	return b.State != "" || b.Snapshot == snapshot
}

// Backup reports how far a backup is that this engine was asked for; ErrNotFound when it knows none of that name. A v2 engine compares the
// address of the replica with those that it was started with, which have no scheme, and finds no replica without an address.
func (p *Proxy) Backup(ctx context.Context, t Target, name, replica string) (BackupProgress, error) {
	ctx, cancel := p.read(ctx)
	defer cancel()
	if t.DataEngine == v1beta2.DataEngineV2 {
		replica = WithoutScheme(replica)
	}
	answer, err := p.service.SnapshotBackupStatus(ctx, &imrpc.EngineSnapshotBackupStatusRequest{
		ProxyEngineRequest: t.request(), BackupName: name, ReplicaAddress: replica,
	})
	if err != nil {
		return BackupProgress{}, callError(ctx, "SnapshotBackupStatus", p.address, err)
	}
	return BackupProgress{State: answer.GetState(), Error: inWords(answer.GetError()), URL: cut(answer.GetBackupUrl()),
		Replica: cut(answer.GetReplicaAddress()), Snapshot: cut(answer.GetSnapshotName()), Percent: int(answer.GetProgress())}, nil
}
