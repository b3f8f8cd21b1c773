package serve

import (
	"context"
	"slices"
	"strings"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// proxyService answers per-engine calls that only read. Everything that changes an engine is Unimplemented.
type proxyService struct {
	imrpc.UnimplementedProxyEngineServiceServer
	servers *Servers
}

// engine finds the engine that a request means: v1 by the address that it listens on, v2 by its name at this server.
func (s *proxyService) engine(ctx context.Context, in *imrpc.ProxyEngineRequest) (dataplane.Engine, error) {
	server, err := serverOf(ctx)
	if err != nil {
		return dataplane.Engine{}, err
	}
	var found dataplane.Engine
	if in.GetDataEngine() == imrpc.DataEngine_DATA_ENGINE_V2 {
		found, err = server.EngineNamed(in.GetEngineName())
	} else {
		found, err = s.servers.options.Plane.EngineAt(strings.TrimPrefix(in.GetAddress(), "tcp://"))
	}
	if err != nil {
		return dataplane.Engine{}, failure(err)
	}
	if wrong(in.GetEngineName(), found.Name) || wrong(in.GetVolumeName(), found.Volume) {
		return dataplane.Engine{}, failure(&dataplane.Error{Code: dataplane.FailedPrecondition, Message: "incorrect instance name"})
	}
	return found, nil
}

func wrong(asked, found string) bool { return asked != "" && found != "" && asked != found }

// ServerVersionGet tells the engine's versions.
func (s *proxyService) ServerVersionGet(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineVersionProxyResponse, error) {
	if _, err := s.engine(ctx, in); err != nil {
		return nil, err
	}
	return &imrpc.EngineVersionProxyResponse{Version: &ptypes.VersionOutput{Version: serverVersion, GitCommit: "simulated",
		CliAPIVersion: 11, CliAPIMinVersion: 3, ControllerAPIVersion: 9, ControllerAPIMinVersion: 3, DataFormatVersion: 1, DataFormatMinVersion: 1}}, nil
}

// VolumeGet tells what the engine serves.
func (s *proxyService) VolumeGet(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineVolumeGetProxyResponse, error) {
	engine, err := s.engine(ctx, in)
	if err != nil {
		return nil, err
	}
	state := "down"
	if engine.Frontend != "" {
		state = "up"
	}
	return &imrpc.EngineVolumeGetProxyResponse{Volume: &ptypes.Volume{Name: engine.Volume, Size: int64(engine.Size),
		ReplicaCount: int32(len(engine.Replicas)), Endpoint: engine.Endpoint, Frontend: engine.Frontend, FrontendState: state, SnapshotMaxCount: 250}}, nil
}

// ReplicaList tells the engine's replicas and their modes.
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
	slices.SortFunc(list.Replicas, func(a, b *ptypes.ControllerReplica) int { return strings.Compare(a.Address.Address, b.Address.Address) })
	return &imrpc.EngineReplicaListProxyResponse{ReplicaList: list}, nil
}

// SnapshotList tells the volume's chain: its head alone, for snapshots cannot be taken yet.
func (s *proxyService) SnapshotList(ctx context.Context, in *imrpc.ProxyEngineRequest) (*imrpc.EngineSnapshotListProxyResponse, error) {
	engine, err := s.engine(ctx, in)
	if err != nil {
		return nil, err
	}
	return &imrpc.EngineSnapshotListProxyResponse{Disks: map[string]*imrpc.EngineSnapshotDiskInfo{
		"volume-head": {Name: "volume-head", Children: map[string]bool{}, Created: engine.Created.UTC().Format("2006-01-02T15:04:05Z"), Size: "0",
			Labels: map[string]string{}}}}, nil
}
