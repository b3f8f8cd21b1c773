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
func (s *proxyService) VolumeSnapshot(ctx context.Context, in *imrpc.EngineVolumeSnapshotRequest) (*imrpc.EngineVolumeSnapshotProxyResponse, error) {
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

// SnapshotList tells the volume's snapshots and its head.
func (s *proxyService) SnapshotList(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotListProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.Snapshots(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineSnapshotListProxyResponse{Disks: make(map[string]*imrpc.EngineSnapshotDiskInfo, len(list))}
	for _, d := range list {
		info := &imrpc.EngineSnapshotDiskInfo{Name: d.Name, Parent: d.Parent, Children: map[string]bool{}, Removed: d.Removed, UserCreated: d.UserCreated,
			Created: d.Created.UTC().Format(time.RFC3339), Size: strconv.FormatInt(d.Bytes, 10), Labels: d.Labels}
		for _, child := range d.Children {
			info.Children[child] = true
		}
		out.Disks[d.Name] = info
	}
	return out, nil
}

// SnapshotRemove removes snapshots.
func (s *proxyService) SnapshotRemove(ctx context.Context, in *imrpc.EngineSnapshotRemoveRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SnapshotRemove(refOf(in.GetProxyEngineRequest()), in.GetNames())
	})
}

// SnapshotRevert goes on from a snapshot.
func (s *proxyService) SnapshotRevert(ctx context.Context, in *imrpc.EngineSnapshotRevertRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SnapshotRevert(refOf(in.GetProxyEngineRequest()), in.GetName())
	})
}
