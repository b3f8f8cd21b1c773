package serve

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
)

// spdkService is the v2 inventory behind an instance manager.
type spdkService struct {
	spdkrpc.UnimplementedSPDKServiceServer
	servers *Servers
}

// ReplicaList reports every v2 replica with its head lvol.
func (s *spdkService) ReplicaList(ctx context.Context, _ *emptypb.Empty) (*spdkrpc.ReplicaListResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := e.server.SPDKReplicas()
	if err != nil {
		return nil, failure(err)
	}
	left := leftOut(s.servers, e, "ReplicaList", list)
	out := &spdkrpc.ReplicaListResponse{Replicas: map[string]*spdkrpc.Replica{}}
	for name, r := range list {
		if left[name] {
			continue
		}
		wire := spdkReplica(r, e.server.IP())
		if s.servers.blank(e, "ReplicaList", r.Instance).UUID == "" && r.Instance.UUID != "" {
			wire.Uuid, wire.Head = "", nil
		}
		out.Replicas[name] = wire
	}
	return out, nil
}

// EngineList reports every v2 engine with its replicas.
func (s *spdkService) EngineList(ctx context.Context, _ *emptypb.Empty) (*spdkrpc.EngineListResponse, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := e.server.SPDKEngines()
	if err != nil {
		return nil, failure(err)
	}
	left := leftOut(s.servers, e, "EngineList", list)
	out := &spdkrpc.EngineListResponse{Engines: map[string]*spdkrpc.Engine{}}
	for name, engine := range list {
		if !left[name] {
			out.Engines[name] = spdkEngine(engine, e.server.IP())
		}
	}
	return out, nil
}

// EngineSetTargetListenerANAState sets the state of the listener of an engine that runs here.
func (s *spdkService) EngineSetTargetListenerANAState(ctx context.Context,
	in *spdkrpc.EngineSetTargetListenerANAStateRequest) (*emptypb.Empty, error) {
	return onServer(ctx, func(d *dataplane.Server) error { return d.SetTargetANA(in.GetName(), in.GetAnaState()) })
}
