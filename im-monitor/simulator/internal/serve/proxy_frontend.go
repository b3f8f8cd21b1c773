package serve

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// VolumeFrontendStart gives a v1 engine a frontend.
func (s *proxyService) VolumeFrontendStart(ctx context.Context, in *imrpc.EngineVolumeFrontendStartRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.FrontendStart(refOf(in.GetProxyEngineRequest()), in.GetFrontendStart().GetFrontend())
	})
}

// VolumeFrontendShutdown removes a v1 engine's frontend.
func (s *proxyService) VolumeFrontendShutdown(ctx context.Context, in *imrpc.ProxyEngineRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error { return d.FrontendShutdown(refOf(in)) })
}

// set changes one setting of an engine.
func set(ctx context.Context, in *imrpc.ProxyEngineRequest, method string, change func(*dataplane.EngineSettings)) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error { return d.Set(refOf(in), method, change) })
}

// VolumeUnmapMarkSnapChainRemovedSet reports whether trimming removes snapshots.
func (s *proxyService) VolumeUnmapMarkSnapChainRemovedSet(ctx context.Context,
	in *imrpc.EngineVolumeUnmapMarkSnapChainRemovedSetRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SetUnmapMark(refOf(in.GetProxyEngineRequest()), in.GetUnmapMarkSnap().GetEnabled())
	})
}

// VolumeSnapshotMaxCountSet limits how many snapshots there may be.
func (s *proxyService) VolumeSnapshotMaxCountSet(ctx context.Context, in *imrpc.EngineVolumeSnapshotMaxCountSetRequest) (*emptypb.Empty,
	error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SetSnapshotMaxCount(refOf(in.GetProxyEngineRequest()), in.GetCount().GetCount())
	})
}

// VolumeSnapshotMaxSizeSet limits how large snapshots may be together.
func (s *proxyService) VolumeSnapshotMaxSizeSet(ctx context.Context, in *imrpc.EngineVolumeSnapshotMaxSizeSetRequest) (*emptypb.Empty,
	error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SetSnapshotMaxSize(refOf(in.GetProxyEngineRequest()), in.GetSize().GetSize())
	})
}

// ReplicaRebuildingQosSet limits a rebuild's bandwidth; it is kept, and slows nothing.
func (s *proxyService) ReplicaRebuildingQosSet(ctx context.Context, in *imrpc.EngineReplicaRebuildingQosSetRequest) (*emptypb.Empty,
	error) {
	return set(ctx, in.GetProxyEngineRequest(), "ReplicaRebuildingQosSet", func(e *dataplane.EngineSettings) {
		e.RebuildQoS = in.GetQosLimitMbps()
	})
}

// ReplicaRebuildConcurrentSyncLimitSet limits how many files a rebuild copies at once.
func (s *proxyService) ReplicaRebuildConcurrentSyncLimitSet(ctx context.Context,
	in *imrpc.EngineReplicaRebuildConcurrentSyncLimitSetRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SetRebuildLimit(refOf(in.GetProxyEngineRequest()), in.GetLimit())
	})
}

// ReplicaRebuildConcurrentSyncLimitGet reports the limit.
func (s *proxyService) ReplicaRebuildConcurrentSyncLimitGet(ctx context.Context,
	in *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaRebuildConcurrentSyncLimitGetResponse, error) {
	e, err := s.engine(ctx, in)
	if err != nil {
		return nil, err
	}
	return &imrpc.EngineReplicaRebuildConcurrentSyncLimitGetResponse{Limit: e.Settings.RebuildLimit}, nil
}
