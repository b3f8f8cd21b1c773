package serve

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
)

// proxyService answers per-engine calls.
type proxyService struct {
	imrpc.UnimplementedProxyEngineServiceServer
	servers *Servers
}

// refOf is the engine that a request means.
func refOf(in *imrpc.ProxyEngineRequest) dataplane.Ref {
	return dataplane.Ref{DataEngine: engineName(in.GetDataEngine()), Address: in.GetAddress(), Name: in.GetEngineName(),
		Volume:   in.GetVolumeName(),
		Frontend: in.GetEngineFrontendName()}
}

// bare is an address without its scheme.
func bare(where string) string { return strings.TrimPrefix(where, "tcp://") }

// failsLater is the message with which the work that a call begins must fail, or "".
func (s *Servers) failsLater(ctx context.Context, method string) string {
	e, err := endpointOf(ctx)
	if err != nil {
		return ""
	}
	rule, ok := s.options.Faults.Take(fault.FailLater, e.Target(), method, false)
	if !ok {
		return ""
	}
	return messageOf(rule)
}

// engine is the engine that a request means.
func (s *proxyService) engine(ctx context.Context, in *imrpc.ProxyEngineRequest) (dataplane.Engine, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return dataplane.Engine{}, err
	}
	found, err := server.Engine(refOf(in))
	return found, failure(err)
}

// ServerVersionGet reports the engine's versions.
func (s *proxyService) ServerVersionGet(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineVersionProxyResponse, error) {
	if _, err := s.engine(ctx, in); err != nil {
		return nil, err
	}
	return &imrpc.EngineVersionProxyResponse{Version: &ptypes.VersionOutput{Version: serverVersion, GitCommit: "simulated",
		CliAPIVersion: 11, CliAPIMinVersion: 3, ControllerAPIVersion: 9, ControllerAPIMinVersion: 3, DataFormatVersion: 1,
		DataFormatMinVersion: 1}}, nil
}

// VolumeGet reports what the engine serves.
func (s *proxyService) VolumeGet(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineVolumeGetProxyResponse, error) {
	e, err := s.engine(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &ptypes.Volume{Name: e.Volume, Size: int64(e.Size), ReplicaCount: int32(len(e.Replicas)), Endpoint: e.DeviceEndpoint,
		Frontend:      e.Device,
		FrontendState: "down", IsExpanding: e.Expansion.Running, LastExpansionError: e.Expansion.LastError,
		UnmapMarkSnapChainRemoved: e.Settings.UnmapMark, SnapshotMaxCount: e.Settings.SnapshotMaxCount,
		SnapshotMaxSize: e.Settings.SnapshotMaxSize}
	if e.Device != "" {
		out.FrontendState = "up"
	}
	if !e.Expansion.FailedAt.IsZero() {
		out.LastExpansionFailedAt = e.Expansion.FailedAt.UTC().Format(time.RFC3339)
	}
	return &imrpc.EngineVolumeGetProxyResponse{Volume: out}, nil
}

// VolumeExpand makes the volume larger.
func (s *proxyService) VolumeExpand(ctx context.Context, in *imrpc.EngineVolumeExpandRequest) (*emptypb.Empty, error) {
	fails := s.servers.failsLater(ctx, "VolumeExpand")
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.Expand(refOf(in.GetProxyEngineRequest()), uint64(max(in.GetExpand().GetSize(), 0)), fails)
	})
}

// ReplicaAdd takes a replica in. v1 answers when it is rebuilt.
func (s *proxyService) ReplicaAdd(ctx context.Context, in *imrpc.EngineReplicaAddRequest) (*emptypb.Empty, error) {
	fails := s.servers.failsLater(ctx, "ReplicaAdd")
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.ReplicaAdd(ctx, refOf(in.GetProxyEngineRequest()),
			dataplane.Addition{Name: in.GetReplicaName(), Address: bare(in.GetReplicaAddress()), Size: uint64(max(in.GetCurrentSize(), 0)),
				Restore: in.GetRestore(), Fails: fails})
	})
}

// ReplicaList reports the engine's replicas and their modes.
func (s *proxyService) ReplicaList(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaListProxyResponse, error) {
	engine, err := s.engine(ctx, in)
	if err != nil {
		return nil, err
	}
	list := &ptypes.ReplicaListReply{}
	for name, where := range engine.Replicas {
		list.Replicas = append(list.Replicas, &ptypes.ControllerReplica{
			Address: &ptypes.ReplicaAddress{Address: "tcp://" + where, InstanceName: name},
			Mode:    ptypes.ReplicaMode(ptypes.ReplicaMode_value[engine.Modes[name]])})
	}
	slices.SortFunc(list.Replicas, func(a, b *ptypes.ControllerReplica) int {
		return strings.Compare(a.Address.Address,
			b.Address.Address)
	})
	return &imrpc.EngineReplicaListProxyResponse{ReplicaList: list}, nil
}

// ReplicaRebuildingStatus reports the rebuilds of the engine's replicas, by their addresses.
func (s *proxyService) ReplicaRebuildingStatus(ctx context.Context,
	in *imrpc.ProxyEngineRequest) (*imrpc.EngineReplicaRebuildStatusProxyResponse, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := server.Rebuilds(refOf(in))
	if err != nil {
		return nil, failure(err)
	}
	out := &imrpc.EngineReplicaRebuildStatusProxyResponse{Status: map[string]*ptypes.ReplicaRebuildStatusResponse{}}
	for _, r := range list {
		out.Status["tcp://"+r.Address] = &ptypes.ReplicaRebuildStatusResponse{IsRebuilding: r.Running, Error: r.Error, Progress: r.Percent,
			State:              r.State,
			FromReplicaAddress: "tcp://" + r.From, FromReplicaAddressList: []string{"tcp://" + r.From}}
	}
	return out, nil
}

// ReplicaVerifyRebuild asks whether a replica is rebuilt.
func (s *proxyService) ReplicaVerifyRebuild(ctx context.Context, in *imrpc.EngineReplicaVerifyRebuildRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.VerifyRebuild(refOf(in.GetProxyEngineRequest()), in.GetReplicaName(), bare(in.GetReplicaAddress()))
	})
}

// ReplicaRemove lets a replica go.
func (s *proxyService) ReplicaRemove(ctx context.Context, in *imrpc.EngineReplicaRemoveRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.ReplicaRemove(refOf(in.GetProxyEngineRequest()), in.GetReplicaName(), bare(in.GetReplicaAddress()))
	})
}

// ReplicaModeUpdate sets a replica's mode.
func (s *proxyService) ReplicaModeUpdate(ctx context.Context, in *imrpc.EngineReplicaModeUpdateRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error {
		return d.SetMode(refOf(in.GetProxyEngineRequest()), bare(in.GetReplicaAddress()), in.GetMode().String())
	})
}
