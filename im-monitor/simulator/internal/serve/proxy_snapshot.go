package serve

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// VolumeSnapshot takes a snapshot.
func (s *proxyService) VolumeSnapshot(ctx context.Context, in *imrpc.EngineVolumeSnapshotRequest) (*imrpc.EngineVolumeSnapshotProxyResponse,
	error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	name, err := server.Snapshot(refOf(in.GetProxyEngineRequest()), in.GetSnapshotVolume().GetName(), in.GetSnapshotVolume().GetLabels())
	if err != nil {
		return nil, failure(err)
	}
	return &imrpc.EngineVolumeSnapshotProxyResponse{Snapshot: &ptypes.VolumeSnapshotReply{Name: name}}, nil
}

// SnapshotList reports the volume's snapshots and its head.
func (s *proxyService) SnapshotList(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotListProxyResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := e.server.Snapshots(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineSnapshotListProxyResponse{Disks: make(map[string]*imrpc.EngineSnapshotDiskInfo, len(list))}
	for _, d := range list {
		info := &imrpc.EngineSnapshotDiskInfo{Name: d.Name, Parent: d.Parent, Children: map[string]bool{}, Removed: d.Removed,
			UserCreated: d.UserCreated,
			Created:     d.Created.UTC().Format(time.RFC3339), Size: strconv.FormatInt(d.Bytes, 10), Labels: d.Labels}
		for _, child := range d.Children {
			info.Children[child] = true
		}
		out.Disks[d.Name] = info
	}
	for name := range leftOut(s.servers, e, "SnapshotList", out.Disks) {
		delete(out.Disks, name)
	}
	return out, nil
}

// SnapshotRemove removes snapshots.
func (s *proxyService) SnapshotRemove(ctx context.Context, in *imrpc.EngineSnapshotRemoveRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SnapshotRemove(refOf(in.GetProxyEngineRequest()), in.GetNames())
	})
}

// SnapshotRevert continues from a snapshot.
func (s *proxyService) SnapshotRevert(ctx context.Context, in *imrpc.EngineSnapshotRevertRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SnapshotRevert(refOf(in.GetProxyEngineRequest()), in.GetName())
	})
}

// SnapshotPurge takes removed snapshots out.
func (s *proxyService) SnapshotPurge(ctx context.Context, in *imrpc.EngineSnapshotPurgeRequest) (*emptypb.Empty, error) {
	fails := s.servers.failsLater(ctx, "SnapshotPurge")
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Purge(refOf(in.GetProxyEngineRequest()), in.GetSkipIfInProgress(), fails)
	})
}

// SnapshotPurgeStatus reports how far the last purge is, by replica.
func (s *proxyService) SnapshotPurgeStatus(ctx context.Context,
	in *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotPurgeStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.PurgeStatus(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineSnapshotPurgeStatusProxyResponse{Status: map[string]*ptypes.SnapshotPurgeStatusResponse{}}
	for where, p := range list {
		out.Status["tcp://"+where] = &ptypes.SnapshotPurgeStatusResponse{IsPurging: p.Running, Error: p.Error, Progress: p.Percent,
			State: p.State}
	}
	return out, nil
}

// SnapshotHash begins to compute a snapshot's checksum.
func (s *proxyService) SnapshotHash(ctx context.Context, in *imrpc.EngineSnapshotHashRequest) (*emptypb.Empty, error) {
	fails := s.servers.failsLater(ctx, "SnapshotHash")
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Hash(refOf(in.GetProxyEngineRequest()), in.GetSnapshotName(), in.GetRehash(), fails)
	})
}

// SnapshotHashStatus reports a snapshot's checksum, by replica.
func (s *proxyService) SnapshotHashStatus(ctx context.Context,
	in *imrpc.EngineSnapshotHashStatusRequest) (*imrpc.EngineSnapshotHashStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.HashStatus(refOf(in.GetProxyEngineRequest()), in.GetSnapshotName())
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineSnapshotHashStatusProxyResponse{Status: map[string]*ptypes.SnapshotHashStatusResponse{}}
	for where, h := range list {
		out.Status["tcp://"+where] = &ptypes.SnapshotHashStatusResponse{State: h.State, Checksum: h.Checksum, Error: h.Error}
	}
	return out, nil
}
